import { DEFAULT_SEAT, type OpenResult } from '@episodic/protocol'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { audit } from '../../fixtures/audit.fixture.ts'
import { ledger } from '../../fixtures/ledger.fixture.ts'
import { openSqliteFile } from '../../fixtures/sqlite-file.fixture.ts'
import { asking, call, createTestHost, freshKey } from '../../fixtures/testbed.fixture.ts'
import type { Host } from '../../host/host.ts'
import { defineEnvironment } from '../definition/define-environment.ts'
import { defineGame } from '../definition/define-game.ts'
import { rehearse } from '../rehearse/rehearse.ts'

const opening = () => asking({ environment: 'audit', seed: 's' })

/** Plays on, and gives the report of each step. */
async function play(
  host: Host,
  { session }: Pick<OpenResult, 'session'>,
  ...calls: readonly (readonly [string, object?])[]
) {
  const reports = []
  for (const [tool, args = {}] of calls) {
    const seq = (await atControl(host, session).state()).seats[DEFAULT_SEAT]?.seq
    reports.push((await atControl(host, session).step(call(tool, args as never, seq))).step.report)
  }
  return reports
}

const pay = (amount: number) => ['pay', { amount }] as const
const terms = (calls: number, refusals: number) => expect.objectContaining({ terms: { calls, refusals } })

describe('calls, in reward terms and success', () => {
  it('are all calls so far, the one of now last, with why each was refused', () => {
    const seen: unknown[] = []
    const see = ({ calls }: { readonly calls: readonly object[] }) => seen.push(calls)
    const world = rehearse(defineMarks({ history: 'calls', term: see, success: (judged) => see(judged) > 0 }))
    world.play('mark', { at: 1, more: true } as never)
    world.play('mark', { at: -1 })
    world.play('erase' as 'mark', { at: 1 })
    world.play('mark', { at: 0 })
    const calls = [
      { seat: 'agent', tool: 'mark', arguments: { at: 1 }, refused: null },
      { seat: 'agent', tool: 'mark', arguments: { at: -1 }, refused: 'rules' },
      { seat: 'agent', tool: 'erase', arguments: {}, refused: 'tool' },
      { seat: 'agent', tool: 'mark', arguments: { at: 0 }, refused: null },
    ]
    expect(seen).toEqual([calls.slice(0, 1), calls.slice(0, 2), calls.slice(0, 3), calls, calls])
    // Nothing of them is in the state.
    expect(world.state).toEqual({ public: {}, private: {} })
  })

  it('are those of all seats of a game, in the order in which they were played', () => {
    const game = defineGame({
      name: 'bell',
      version: '1.0.0',
      description: 'Ring in turn.',
      history: 'calls',
      seats: ['north', 'south'],
      state: { public: z.object({ rings: z.int() }), own: z.object({}), private: z.object({}) },
      start: () => ({ public: { rings: 0 }, own: { north: {}, south: {} }, private: {} }),
      turn: ({ rings }) => (rings % 2 === 0 ? 'north' : 'south'),
      observe: () => '',
      tools: ({ tool }) => ({
        ring: tool({
          description: 'Rings.',
          input: z.object({}),
          play({ state, say, end }) {
            state.public.rings += 1
            if (state.public.rings === 3) end('rung')
            return say('Dong.')
          },
        }),
      }),
      rewards: { own: ({ calls, seat }) => calls.filter((each) => each.seat === seat).length },
      success: ({ calls, seat }) => calls.at(-1)?.seat === seat,
    })
    const world = rehearse(game)
    world.play('ring', {}, { seat: 'north' })
    world.play('ring', {}, { seat: 'south' })
    expect(world.play('ring', {}, { seat: 'north' })).toMatchObject({
      terms: { own: 2 },
      success: true,
      seats: { terms: { south: { own: 1 } }, successes: { north: true, south: false } },
    })
  })

  it('decide a success at the end, and at a close', async () => {
    const { host } = createTestHost({ environments: [audit] })
    const good = await host.open(null, opening())
    expect(await play(host, good, ['look'], pay(0), pay(5), ['stop'])).toEqual([
      terms(1, 0),
      terms(2, 1),
      terms(3, 1),
      expect.objectContaining({ terms: { calls: 4, refusals: 1 }, success: true }),
    ])
    const bad = await host.open(null, opening())
    expect((await play(host, bad, pay(5), ['look'], ['stop'])).at(-1)).toMatchObject({ success: false })
    for (const [first, second, success] of [
      [['look'], pay(5), true],
      [pay(5), ['look'], false],
    ] as const) {
      const left = await host.open(null, opening())
      await play(host, left, first, second)
      expect(await atControl(host, left.session).close()).toMatchObject({ success })
    }
  })

  it.each(['memory', 'sqlite'])(
    'are known to another process, to forks and to restored sessions (%s)',
    async (name) => {
      const store = name === 'memory' ? createMemoryStore() : await openSqliteFile()
      const { host } = createTestHost({ environments: [audit], store })
      const opened = await host.open(null, opening())
      await play(host, opened, ['look'], pay(0))

      // Another host holds nothing of the session but what the store has.
      const { host: other } = createTestHost({ environments: [audit], store })
      expect(await play(other, opened, pay(5))).toEqual([terms(3, 1)])
      expect(await play(host, opened, ['look'])).toEqual([terms(4, 1)])

      const forkOf = async (at?: number) => {
        const [fork] = await atControl(other, opened.session).fork({
          requestKey: freshKey(),
          ...(at !== undefined && { at }),
        })
        return fork as OpenResult
      }
      expect(await play(other, await forkOf(), ['stop'])).toEqual([expect.objectContaining({ success: false })])
      expect(await play(other, await forkOf(3), ['stop'])).toEqual([expect.objectContaining({ success: true })])
      expect(await play(host, await forkOf(1), pay(5), ['stop'])).toEqual([
        terms(2, 0),
        expect.objectContaining({ terms: { calls: 3, refusals: 0 }, success: true }),
      ])

      const snapshot = await atControl(host, opened.session).snapshot({ at: 3 })
      const { host: elsewhere } = createTestHost({ environments: [audit] })
      const restored = await elsewhere.restore(null, { requestKey: freshKey(), snapshot })
      expect(await play(elsewhere, restored, ['stop'])).toEqual([
        expect.objectContaining({ terms: { calls: 4, refusals: 1 }, success: true }),
      ])
      const history = snapshot.history.slice(1)
      await expect(
        elsewhere.restore(null, { requestKey: freshKey(), snapshot: { ...snapshot, history } }),
      ).rejects.toThrow('snapshot.history has 2 entries, and a session remembers 3')
    },
  )

  it('are kept by no session that was not asked for them, and rules that read them say so', async () => {
    const { host } = createTestHost({ environments: [ledger] })
    const { session } = await host.open(null, asking({ environment: 'ledger' }))
    await play(host, { session }, ['look'])
    expect((await atControl(host, session).snapshot({})).history).toEqual([])
    const careless = rehearse(defineMarks({ term: ({ calls }) => calls.length }))
    expect(() => careless.play('mark', { at: 1 })).toThrow("write `history: 'calls'` in the definition")
    expect(() => defineMarks({ history: 'all' as never, term: () => 0 })).toThrow(
      'its `history` is "all", and has to be \'calls\' or { entries, bytes }',
    )
  })
})

interface Marks {
  readonly history?: 'calls'
  readonly term: (judged: { readonly calls: readonly object[] }) => number
  readonly success?: (judged: { readonly calls: readonly object[] }) => boolean
}

const defineMarks = ({ history, term, success = () => true }: Marks) =>
  defineEnvironment({
    name: 'marks',
    version: '1.0.0',
    description: 'Mark places.',
    ...(history && { history }),
    state: { public: z.object({}), private: z.object({}) },
    start: () => ({ public: {}, private: {} }),
    observe: () => '',
    tools: ({ tool }) => ({
      mark: tool({
        description: 'Marks.',
        input: z.object({ at: z.int() }),
        play({ input, refuse, say, end }) {
          if (input.at === 0) end('marked')
          return input.at < 0 ? refuse('Nowhere.') : say('Marked.')
        },
      }),
    }),
    rewards: { term },
    success,
  })
