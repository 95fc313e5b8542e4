import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AgentError, createMcpSessions } from '../../index.ts'
import { serveFaults } from '../fixtures/faulty-server.fixture.ts'
import { notesCommand, piecewiseCommand, serveNotes } from '../fixtures/servers.fixture.ts'

const failure = (promise: Promise<unknown>): Promise<AgentError> =>
  promise.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  )

describe('an answer that is none', () => {
  it.each([
    // The fault, the code if the call may be made again, and if it may not, and the session afterwards.
    ['malformed', 'answer-malformed', 'outcome-unknown', 'open'],
    ['nonsense', 'answer-malformed', 'outcome-unknown', 'open'],
    ['broken_json', 'answer-malformed', 'outcome-unknown', 'open'],
    ['page', 'answer-malformed', 'outcome-unknown', 'open'],
    ['endless', 'answer-malformed', 'outcome-unknown', 'open'],
    ['failing', 'call-refused', 'outcome-unknown', 'open'],
    ['busy', 'call-refused', 'call-refused', 'open'],
    ['away', 'call-refused', 'call-refused', 'open'],
    ['forbidden', 'unauthorized', 'unauthorized', 'open'],
    ['cut_off', 'session-lost', 'outcome-unknown', 'lost'],
    ['torn', 'session-lost', 'outcome-unknown', 'lost'],
  ])('rejects with its own code: %s', async (fault, repeatable, otherwise, health) => {
    await using server = await serveFaults()
    await using sessions = createMcpSessions({ mcpServers: { faults: { url: server.url } } })
    for (const [tool, code] of [
      [`look_${fault}`, repeatable],
      [fault, otherwise],
    ] as const) {
      await using session = await sessions.open('faults')
      const error = await failure(session.callTool(tool))
      expect([error.code, error.message, session.health]).toEqual([code, expect.stringContaining(tool), health])
    }
  })

  it('is an answer where it is a refusal', async () => {
    await using server = await serveFaults()
    await using sessions = createMcpSessions({ mcpServers: { faults: { url: server.url } } })
    await using session = await sessions.open('faults')
    expect(await session.callTool('refusing')).toMatchObject({ isError: true, text: 'I broke.' })
  })
})

describe('a server over its pipes', () => {
  const circle: { self?: object } = {}
  circle.self = circle

  it('is understood however its messages are cut, and whatever it says between them', async () => {
    await using sessions = createMcpSessions({ mcpServers: { piecewise: piecewiseCommand } })
    await using session = await sessions.open('piecewise')
    const rubbish = fc.constantFrom('', '\n', 'Ready!\n', '{"level":30}\n', 'null\n', '{"jsonrpc":"2.0"}\n', '"2.0"\n')
    const cuts = fc.array(fc.nat({ max: 1_000 }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), cuts, rubbish, async (text, at, between) => {
        const { text: said } = await session.callTool('say', { text, cuts: at, rubbish: between })
        expect(said).toBe(text)
      }),
      { numRuns: 100 },
    )
  })

  it('is reported with how it ended, in a call and after it', async () => {
    await using sessions = createMcpSessions({ mcpServers: { notes: notesCommand() } })
    await using session = await sessions.open('notes')
    for (const call of ['die', 'count'])
      expect((await failure(session.callTool(call))).message).toContain('it ended with status 7')
  })

  it.each([
    ['a number that JSON has not', { text: 1n }],
    ['a circle', circle],
  ])('is not called with arguments that are no JSON: %s', async (_, args) => {
    await using sessions = createMcpSessions({ mcpServers: { notes: notesCommand() } })
    await using session = await sessions.open('notes')
    const error = await failure(session.callTool('count', args as never))
    expect([error.code, error.message]).toEqual(['call-refused', expect.stringContaining('It was not made.')])
    expect((await session.callTool('count')).text).toBe('1')
  })

  it('may say much, and not without end', async () => {
    await using sessions = createMcpSessions({ mcpServers: { piecewise: piecewiseCommand } })
    await using session = await sessions.open('piecewise')
    expect((await session.callTool('fill', { length: 15_000_000 })).text).toHaveLength(15_000_000)
    const error = await failure(session.callTool('fill', { length: 20_000_000 }))
    expect([error.code, error.message]).toEqual([
      'session-lost',
      expect.stringContaining('more than 16777216 characters'),
    ])
    expect(session.health).toBe('lost')
  })
})

describe('many callers of one session', () => {
  it('get their own answers in the order in which they asked, even if one is aborted', async () => {
    await using sessions = createMcpSessions({ mcpServers: { notes: notesCommand() } })
    await using session = await sessions.open('notes')
    let expected = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 12 }), async (givesUp) => {
        const stop = new AbortController()
        const calls = givesUp.map((gone) => session.callTool('count', {}, gone ? { signal: stop.signal } : {}))
        // The first is on its way already; those that wait have not been made.
        stop.abort(new Error('enough'))
        const settled = await Promise.allSettled(calls)
        if (givesUp[0])
          expected = Number((await session.callTool('read')).text) - givesUp.filter((gone) => !gone).length
        settled.forEach((each, i) => {
          if (givesUp[i]) expect(each).toMatchObject({ status: 'rejected', reason: { message: 'enough' } })
          else expect(each).toMatchObject({ status: 'fulfilled', value: { text: String(++expected) } })
        })
      }),
      { numRuns: 50 },
    )
  })

  it('do not end for others the opening of what they share', async () => {
    await using server = await serveNotes()
    await using sessions = createMcpSessions({ mcpServers: { notes: { url: server.url } } })
    const stop = new AbortController()
    const impatient = failure(sessions.open('notes', { shareAs: 'team', signal: stop.signal }))
    const patient = sessions.open('notes', { shareAs: 'team' })
    stop.abort(new Error('enough'))
    expect((await impatient).message).toBe('enough')
    await using session = await patient
    expect((await session.callTool('count')).text).toBe('1')
  })
})
