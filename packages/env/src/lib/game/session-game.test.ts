import { createHost, inProcess } from '@episodic/mcp-server'
import { type Channel, META, METHODS, type StepReport, WireError } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { meeting, nim } from '../fixtures/nim.fixture.ts'
import { randomPolicy } from '../policy/random-policy.ts'
import { runMatch } from './run-match.ts'

type Reply = Record<string, unknown>

/** A channel to a host in this process whose answers to one method are changed on their way. */
function spoil(
  method: string,
  change: (reply: Reply) => unknown,
): { readonly channel: Channel; readonly asked: string[] } {
  const inner = inProcess(createHost({ environments: [nim, meeting] }))
  const asked: string[] = []
  const channel = {
    ...inner,
    async request(name: string, params: never, options: never) {
      asked.push(name)
      const reply = await inner.request(name, params, options)
      return name === method ? change(structuredClone(reply) as Reply) : reply
    },
  }
  return { channel: channel as unknown as Channel, asked }
}

/** The same for the reports of steps. */
function spoilReport(change: (report: StepReport) => object) {
  return spoil('tools/call', (reply) => {
    const meta = reply._meta as Record<string, StepReport>
    return { ...reply, _meta: { ...meta, [META.step]: change(meta[META.step] as StepReport) } }
  })
}

const take = { tool: 'take', arguments: { count: 3 } }

describe('a step of a game', () => {
  it.each<[what: string, change: (report: StepReport) => object]>([
    ['lacks a term that was announced', (report) => ({ ...report, terms: { won: 0 } })],
    ['has a term that was not announced', (report) => ({ ...report, terms: { ...report.terms, luck: 1 } })],
    [
      'lacks a term of another seat',
      (report) => ({ ...report, seats: { ...report.seats, terms: { bob: { won: 0 } } } }),
    ],
    ['has a potential that was not announced', (report) => ({ ...report, potential: 1 })],
    ['has a success without an end', (report) => ({ ...report, success: true })],
    ['ends without a success', (report) => ({ ...report, end: { kind: 'terminated', reason: 'empty' } })],
    [
      'ends for another seat without its success',
      (report) => ({ ...report, seats: { ...report.seats, ends: { bob: { kind: 'terminated', reason: 'empty' } } } }),
    ],
    ['has no part about seats', ({ seats: _, ...report }) => report],
    ['counts other steps', (report) => ({ ...report, seq: 2 })],
  ])('rejects with reply-malformed if its report %s', async (_, change) => {
    await using connection = await connect(spoilReport(change).channel)
    await using game = connection.game('nim')
    await game.reset({ params: { stones: 7 } })
    await expect(game.step('ann', take)).rejects.toMatchObject({ name: 'EnvError', code: 'reply-malformed' })
  })

  it('fails the match if its report lacks a term, which never counts as a zero', async () => {
    const { channel } = spoilReport((report) => ({ ...report, terms: { stones: report.terms.stones } }))
    await using connection = await connect(channel)
    const match = await runMatch({
      createGame: () => connection.game('nim'),
      policies: { ann: randomPolicy(), bob: randomPolicy() },
    })
    expect(match).toMatchObject({ kind: 'failed', steps: [], seat: null, cause: { code: 'reply-malformed' } })
  })

  it('rejects with option-invalid if the action names no tool', async () => {
    await using connection = await connect(spoil('none', (reply) => reply).channel)
    await using game = connection.game('nim')
    await game.reset()
    await expect(game.step('ann', {} as never)).rejects.toMatchObject({ code: 'option-invalid' })
  })

  it.each(['session-not-found', 'fenced', 'state-lost'] as const)('makes the episode void after %s', async (code) => {
    const { channel, asked } = spoil('tools/call', () => {
      throw new WireError(code, 'No.')
    })
    await using connection = await connect(channel)
    const game = connection.game('nim')
    await game.reset()
    await expect(game.step('ann', take)).rejects.toMatchObject({ code })
    await expect(game.step('ann', take)).rejects.toMatchObject({
      code: 'not-playing',
      message: expect.stringContaining(`void (${code})`),
    })
    await game.close()
    expect(asked.filter((method) => method === 'tools/call')).toHaveLength(1)
    expect(asked.filter((method) => method === METHODS.close)).toHaveLength(code === 'fenced' ? 0 : 1)
  })
})

describe('forks of a game', () => {
  it('reject with not-forkable if an external server keeps the state', async () => {
    const { channel, asked } = spoil(METHODS.list, ({ environments }) => ({
      environments: (environments as object[]).map((info) => ({ ...info, forkable: false })),
    }))
    await using connection = await connect(channel)
    await using game = connection.game('nim')
    await game.reset()
    await expect(game.fork()).rejects.toMatchObject({ code: 'not-forkable' })
    expect(asked).not.toContain(METHODS.fork)
  })

  it('reject with reply-malformed if not as many come as were asked for', async () => {
    const { channel } = spoil(METHODS.fork, ({ forks }) => ({ forks: (forks as object[]).slice(1) }))
    await using connection = await connect(channel)
    await using game = connection.game('nim')
    await game.reset()
    await expect(game.fork({ count: 2 })).rejects.toMatchObject({ code: 'reply-malformed' })
  })
})
