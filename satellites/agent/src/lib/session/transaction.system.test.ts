import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { AgentError, createMcpSessions, type McpSession } from '../../index.ts'
import { notesCommand } from '../fixtures/servers.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'ledger-'))
afterAll(() => rmSync(folder, { recursive: true }))
let ledgers = 0

/** A session with a server that keeps a ledger, and what stands in that. */
async function openLedger(env: Record<string, string> = {}) {
  const file = join(folder, String(ledgers++))
  writeFileSync(file, '')
  const recovery = { ledger: { restore: async () => {} } }
  const sessions = createMcpSessions({ mcpServers: { ledger: notesCommand({ LEDGER: file, ...env }) } }, { recovery })
  const session = await sessions.open('ledger')
  return {
    session,
    lines: () => readFileSync(file, 'utf8').split('\n').filter(Boolean),
    [Symbol.asyncDispose]: () => sessions.close(),
  }
}

const calls = { begin: { tool: 'begin' }, commit: { tool: 'commit' }, rollback: { tool: 'rollback' } }
const write = (session: Pick<McpSession, 'callTool'>, line: string) => session.callTool('write', { line })
const failure = (promise: Promise<unknown>): Promise<AgentError> =>
  promise.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  )

describe('a transaction', () => {
  it('is kept where nothing goes wrong, and gives what was made in it', async () => {
    await using ledger = await openLedger()
    const made = await ledger.session.transaction(calls, async (session) => (await write(session, 'one')).text)
    expect([made, ledger.lines()]).toEqual(['1 lines', ['one']])
    await ledger.session.transaction(calls, (session) => write(session, 'two'))
    expect(ledger.lines()).toEqual(['one', 'two'])
  })

  it('is rolled back when what runs in it throws, and says so', async () => {
    await using ledger = await openLedger()
    const cause = new Error('out of ink')
    const rolledBack = await failure(
      ledger.session.transaction(calls, async (session) => {
        await write(session, 'one')
        throw cause
      }),
    )
    expect(rolledBack).toMatchObject({ code: 'transaction-rolled-back', cause, details: { rollback: 'answered' } })
    expect(rolledBack.message).toBe(
      'The transaction was rolled back, as rollback answered. It was ended by: out of ink',
    )
    expect(ledger.lines()).toEqual([])
    expect((await write(ledger.session, 'outside')).text).toBe('There is no transaction.')
  })

  it('is rolled back when it is aborted, in a call and between two', async () => {
    await using ledger = await openLedger()
    for (const tool of ['hang', 'read']) {
      const stop = new AbortController()
      const rolledBack = await failure(
        ledger.session.transaction(
          calls,
          async (session) => {
            await write(session, 'one')
            const called = session.callTool(tool)
            stop.abort(new Error('enough'))
            await called
          },
          { signal: stop.signal },
        ),
      )
      expect(rolledBack).toMatchObject({ code: 'transaction-rolled-back', details: { rollback: 'answered' } })
    }
    expect([ledger.lines(), ledger.session.health]).toEqual([[], 'open'])
  })

  it('ends with a session that is lost in it, which is not recovered before', async () => {
    await using ledger = await openLedger()
    let after: AgentError | null = null
    const rolledBack = await failure(
      ledger.session.transaction(calls, async (session) => {
        await write(session, 'one')
        await session.callTool('die').catch(() => {})
        after = await failure(write(session, 'two'))
      }),
    )
    expect(rolledBack).toMatchObject({ code: 'transaction-rolled-back', details: { rollback: 'session-ended' } })
    expect(AgentError.is(after, 'session-lost')).toBe(true)
    expect(ledger.lines()).toEqual([])
    await ledger.session.transaction(calls, (session) => write(session, 'three'))
    expect(ledger.lines()).toEqual(['three'])
  })

  it('is rolled back when its commit is refused', async () => {
    await using ledger = await openLedger()
    const refused = await failure(ledger.session.transaction(calls, (session) => write(session, 'refuse me')))
    expect(refused.code).toBe('transaction-rolled-back')
    expect(refused.message).toMatch('commit was refused: This breaks a rule.')
    expect(ledger.lines()).toEqual([])
  })

  it('is unknown when the answer to its commit is lost', async () => {
    await using ledger = await openLedger({ SWALLOW: 'commit' })
    const unknown = await failure(ledger.session.transaction(calls, (session) => write(session, 'one')))
    expect(unknown).toMatchObject({ code: 'transaction-unknown', cause: { code: 'outcome-unknown' } })
    expect(ledger.session.health).toBe('lost')
  })

  it('ends the session where it cannot be rolled back', async () => {
    await using ledger = await openLedger({ SWALLOW: 'rollback' })
    const unknown = await failure(
      ledger.session.transaction(calls, async () => {
        throw new Error('out of ink')
      }),
    )
    expect(unknown.code).toBe('transaction-unknown')
    expect(unknown.message).toMatch('There is no transaction to drop. The session was ended.')
    expect(ledger.session.health).toBe('lost')
    expect((await write(ledger.session, 'outside')).text).toBe('There is no transaction.')
  })

  it('does not begin where its server refuses, and is one at a time', async () => {
    await using ledger = await openLedger()
    const { session } = ledger
    const [inner, refreshed] = await session.transaction(calls, async () => [
      await failure(session.transaction(calls, async () => {})),
      await failure(session.refresh()),
    ])
    expect([inner!.code, refreshed!.code]).toEqual(['transaction-open', 'transaction-open'])
    await session.callTool('begin')
    expect(await failure(session.transaction(calls, async () => {}))).toMatchObject({
      code: 'call-refused',
      message: 'The transaction did not begin: begin was refused: A transaction is open.',
    })
  })

  it('keeps all that was written or nothing, whatever happens when', async () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.string({ minLength: 1, maxLength: 4 }).map((line) => ({ line: `+${line.trim()}` })) },
      { weight: 1, arbitrary: fc.constantFrom('throw', 'die', 'abort').map((fault) => ({ fault })) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 3 }), async (plan) => {
        await using ledger = await openLedger()
        const expected: string[] = []
        for (const steps of plan) {
          const stop = new AbortController()
          const lines = steps.flatMap((each) => ('line' in each ? [each.line] : []))
          const run = ledger.session.transaction(
            calls,
            async (session) => {
              for (const each of steps) {
                if ('line' in each) await write(session, each.line)
                else if (each.fault === 'throw') throw new Error('fault')
                else if (each.fault === 'abort') stop.abort(new Error('fault'))
                else await session.callTool('die')
              }
            },
            { signal: stop.signal },
          )
          if (steps.some((each) => 'fault' in each)) expect((await failure(run)).code).toBe('transaction-rolled-back')
          else {
            await run
            expected.push(...lines)
          }
          expect(ledger.lines()).toEqual(expected)
        }
      }),
      { numRuns: 10, seed: 7 },
    )
  })
})
