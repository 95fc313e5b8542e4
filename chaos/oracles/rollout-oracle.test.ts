import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Received, RolloutEnd } from '../../testing/players/rollout.ts'
import { openReference, RolloutOracle } from './rollout-oracle.ts'

const AMOUNTS = [3, 1, 2]

/** What a client of a sound server receives. */
const SOUND: readonly Received[] = [
  { text: ' has a total of 3 in 1 entries.\n has a total of 3.', reward: 3 },
  { text: ' has a total of 4 in 2 entries.\n has a total of 4.', reward: 1 },
  { text: ' has a total of 6 in 3 entries.', reward: 2 },
]

describe('RolloutOracle', () => {
  let reference: Awaited<ReturnType<typeof openReference>>
  let oracle: RolloutOracle
  beforeAll(async () => {
    reference = await openReference()
  })
  afterAll(() => reference[Symbol.asyncDispose]())
  beforeEach(() => {
    oracle = new RolloutOracle('endpoint', reference)
  })
  const judge = (received: readonly Received[], end: RolloutEnd) => oracle.check(AMOUNTS, { received, end })
  const finished = (total: number): RolloutEnd => ({ kind: 'finished', total })

  it('accepts an episode as the reference has it, and rewards that are reported later', async () => {
    await judge(SOUND, finished(6))
    const [first, second, third] = SOUND as [Received, Received, Received]
    await judge([{ ...first, reward: null }, { ...second, reward: 4 }, third], finished(6))
    await judge(
      SOUND.map((step) => ({ ...step, reward: null })),
      finished(6),
    )
    expect(oracle.breaches).toEqual([])
    expect(oracle.figures).toMatchObject({ episodes: 3, steps: 9, finished: 3, doubled: 0, lost: 0, wrong: 0 })
  })

  it('counts an episode that was given up or masked, and scores neither', async () => {
    await judge(SOUND.slice(0, 1), { kind: 'failed', code: 'connection-lost' })
    await judge([], { kind: 'masked', reason: 'session_lost' })
    expect(oracle.breaches).toEqual([])
    expect(oracle.figures).toMatchObject({ finished: 0, errors: { 'connection-lost': 1 }, masked: { session_lost: 1 } })
  })

  const doubled = { text: ' has a total of 5 in 3 entries.', reward: 1 }
  it.each([
    ['a doubled step', [SOUND[0], doubled], finished(6), { doubled: 1, wrong: 1 }],
    ['a doubled step before an error', [SOUND[0], doubled], { kind: 'failed', code: 'x' }, { doubled: 1, wrong: 0 }],
    ['a step that is gone', [SOUND[0], { ...SOUND[0], reward: 1 }], finished(6), { lost: 1, wrong: 1 }],
    ['an episode that was scored before its end', SOUND.slice(0, 2), finished(4), { lost: 1, wrong: 1 }],
    ['another observation', [{ text: 'The server failed.', reward: 3 }], finished(6), { wrong: 1 }],
    ['another reward', [{ ...SOUND[0], reward: 2 }], finished(6), { wrong: 1 }],
    ['a failure that was scored with 0', SOUND, finished(0), { wrong: 1 }],
  ] as const)('finds %s', async (_, received, end, figures) => {
    await judge(received as readonly Received[], end)
    expect(oracle.breaches).toHaveLength(1)
    expect(oracle.figures).toMatchObject({ doubled: 0, lost: 0, ...figures })
  })

  it('compares only scored episodes where a server masks them in the end', async () => {
    oracle = new RolloutOracle('endpoint', reference, { masksLate: true })
    await judge([doubled], { kind: 'failed', code: 'payload-cut' })
    expect(oracle.breaches).toEqual([])
    await judge([doubled], finished(1))
    expect(oracle.figures).toMatchObject({ doubled: 2, wrong: 1 })
  })

  it('finds a mask without a reason, and an error of no type', async () => {
    await judge(SOUND, { kind: 'masked', reason: '' })
    oracle.untyped(new TypeError('undefined is not a function'))
    expect(oracle.breaches).toHaveLength(2)
  })
})
