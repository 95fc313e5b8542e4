import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { EpisodeRecord } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noteMissingRewards, noteUnknownTools } from '../notes/run-notes.ts'
import { createFold } from './fold.ts'
import { playRun } from './simulated-run.fixture.ts'
import { type Summary, summarySchema } from './summary.ts'

function summaryOf(records: Iterable<EpisodeRecord>, scheduled?: number): Summary {
  const fold = createFold()
  for (const record of records) fold.add(record)
  return fold.finish({ name: 'test', scheduled })
}

const [first] = playRun({ tasks: 1, attempts: 1, failures: 0 }) as [EpisodeRecord]

/** A finished episode with one step that earns `reward`. */
function episode(task: string, attempt: number, reward: number, change: Partial<EpisodeRecord> = {}): EpisodeRecord {
  const step = { ...first.steps[0]!, reward: { total: reward, shaping: 0, terms: { goal: reward } } }
  return {
    ...first,
    task: { ...first.task, id: task },
    attempt,
    steps: [step],
    outcome: { kind: 'finished', end: { kind: 'terminated', reason: 'done' } },
    returns: { total: reward, unshaped: reward, discounted: reward },
    ...change,
  }
}
const failure = (task: string, attempt: number, code: string, message: string): EpisodeRecord =>
  episode(task, attempt, 0, { outcome: { kind: 'failed', error: { code, message } }, returns: null })

describe('createFold', () => {
  const run = playRun({ tasks: 12, attempts: 4, failures: 0.15 })
  // Two lines of one episode that differ, and one that failed first and finished later.
  const conflicting = [
    { ...run[5]!, time: { started: 1, ended: 2 } },
    failure(run[9]!.task.id, run[9]!.attempt, 'time-out', 'No answer.'),
  ]

  it('returns the same bytes for lines in any order, with any repetitions', () => {
    const lines = [...run, ...conflicting]
    const expected = JSON.stringify(summaryOf(lines, 60))
    const anyOrder = fc
      .tuple(
        fc.shuffledSubarray(lines, { minLength: lines.length }),
        fc.array(fc.constantFrom(...lines), { maxLength: 20 }),
      )
      .chain(([all, again]) => fc.shuffledSubarray([...all, ...again], { minLength: all.length + again.length }))
    fc.assert(
      fc.property(anyOrder, (shuffled) => {
        expect(JSON.stringify(summaryOf(shuffled, 60))).toBe(expected)
      }),
      { numRuns: 30 },
    )
  })

  it('counts the finished episodes for which the server of another system gave no reward at all', () => {
    const [step] = first.steps
    const unrewarded = (task: string) =>
      episode(task, 0, 0, { steps: [{ ...step!, reward: { total: 0, shaping: 0, terms: {} } }] })
    const guarantees = { system: 'ors', replay: false, delivery: 'at-most-once', seed: 'ignored' } as const
    const noteOf = (records: readonly EpisodeRecord[]) => noteMissingRewards({ ...summaryOf(records), guarantees })
    const rewarded = episode('a', 0, 1)
    expect(noteOf([rewarded, unrewarded('b')])).toBe(
      'The server gave no reward for 1 step of finished episodes. They add nothing to a return. 1 episode got none at all: a return of 0 is an empty sum there, and no score.',
    )
    const late = {
      ...rewarded,
      task: { ...rewarded.task, id: 'c' },
      steps: [...unrewarded('c').steps, ...rewarded.steps],
    }
    expect(noteOf([rewarded, late])).toMatch(/They add nothing to a return\.$/)
    // Nobody played, so nothing was to be rewarded.
    expect(summaryOf([rewarded, episode('d', 0, 0, { steps: [] })]).rewards.unrewarded).toBe(0)
  })

  it('counts the episodes in which every call named a tool that does not exist', () => {
    const call = (tool: string, refused: 'tool' | 'arguments' | null) => ({
      ...first.steps[0]!,
      action: { tool, arguments: {} },
      refused,
    })
    const lines = [
      episode('a', 0, 0, { steps: [call('functions.guess', 'tool'), call('functions.guess', 'tool')] }),
      episode('b', 0, 0, { steps: [call('guess<|channel|>commentary', 'tool')] }),
      // One call that exists, arguments of a tool that exists, and no call at all.
      episode('c', 0, 0, { steps: [call('functions.guess', 'tool'), call('guess', null)] }),
      episode('d', 0, 0, { steps: [call('guess', 'arguments')] }),
      episode('e', 0, 0, { steps: [] }),
    ]
    const summary = summaryOf(lines)
    expect(summarySchema.parse(summary).unknownTools).toEqual({
      episodes: 2,
      calls: 3,
      names: [
        { name: 'functions.guess', count: 2 },
        { name: 'guess<|channel|>commentary', count: 1 },
      ],
    })
    expect(noteUnknownTools(summary)).toBe(
      'In 2 of 5 episodes every call named a tool that does not exist: 3 calls. Most often: "functions.guess" (2, and 1 other name). Check the names in the policy, or how the server of the model parses calls.',
    )
    expect(summaryOf(lines.slice(2))).not.toHaveProperty('unknownTools')
    expect(noteUnknownTools(summaryOf(lines.slice(2)))).toBeNull()
  })

  it('matches its schema, in plain JSON', () => {
    for (const records of [run, run.slice(0, 1), []]) {
      const summary = summaryOf(records)
      expect(summarySchema.parse(JSON.parse(JSON.stringify(summary)))).toEqual(summary)
    }
  })

  it('accounts for every scheduled episode', () => {
    const records = [episode('a', 0, 1), failure('a', 1, 'lost', 'x'), episode('b', 0, 0)]
    expect(summaryOf(records, 5).counts).toMatchObject({
      scheduled: 5,
      finished: 2,
      failed: 1,
      unresolved: 2,
      tasks: 2,
    })
    expect(summaryOf(records).counts).toMatchObject({ scheduled: 3, unresolved: 0 })
    expect(() => summaryOf(records, 2)).toThrow(RangeError)
  })

  it('never counts a failure as a zero', () => {
    const finished = [episode('a', 0, 1), episode('b', 0, 0.5)]
    const failed = [failure('a', 1, 'lost', 'b'), failure('c', 0, 'lost', 'a'), failure('d', 0, 'slow', 'c')]
    const [without, summary] = [summaryOf(finished), summaryOf([...finished, ...failed])]
    expect(summary.returns).toEqual(without.returns)
    // Only beside the rates does it say how many episodes failed.
    const counting = <T extends object>(groups: readonly T[]) => groups.map((group) => ({ ...group, failed: 3 }))
    const { byDifficulty, bySplit, byTag, passAtK, passHatK } = without.success
    const bounded = <T extends object>(passes: readonly T[]) =>
      passes.map((pass) => ({ ...pass, bounds: { low: (1 / 2 + 1) / 4, high: 1 } }))
    expect(summary.success).toEqual({
      ...without.success,
      bounds: { low: 2 / 5, high: 1 },
      byDifficulty: counting(byDifficulty),
      bySplit: counting(bySplit),
      byTag: counting(byTag),
      passAtK: bounded(passAtK),
      passHatK: bounded(passHatK),
    })
    expect(summary.rewards).toEqual(without.rewards)
    expect(summary.failures).toEqual([
      { name: 'lost', count: 2, message: 'a' },
      { name: 'slow', count: 1, message: 'c' },
    ])
  })

  it('counts the failed episodes of each tag, split and bin of difficulty', () => {
    const [easy, hard] = [
      { ...first.task, id: 'easy', tags: ['all', 'easy'], difficulty: 0.1, split: 'train' as const },
      { ...first.task, id: 'hard', tags: ['all', 'hard'], difficulty: 0.9, split: 'test' as const },
    ]
    const { success } = summaryOf([
      episode('easy', 0, 1, { task: easy }),
      episode('hard', 0, 0, { task: hard }),
      { ...failure('hard', 1, 'lost', 'x'), task: hard },
    ])
    const failed = (groups: readonly { readonly failed: number }[]) => groups.map((group) => group.failed)
    expect(success.byTag.map(({ name, failed }) => [name, failed])).toEqual([
      ['all', 1],
      ['easy', 0],
      ['hard', 1],
    ])
    expect([...failed(success.byDifficulty), ...failed(success.bySplit)]).toEqual([
      0,
      1,
      expect.any(Number),
      expect.any(Number),
    ])
    expect(success.bySplit.find(({ name }) => name === 'test')?.failed).toBe(1)
  })

  it('has groups whose episodes have all failed, without a rate', () => {
    const lost = { ...first.task, id: 'lost', tags: ['lost'], difficulty: 0.95, split: 'test' as const }
    const { success } = summaryOf([
      episode('a', 0, 1, { task: { ...first.task, tags: ['won'], difficulty: 0.1, split: 'train' } }),
      { ...failure('lost', 0, 'lost', 'x'), task: lost },
    ])
    const failed = { rate: null, low: null, high: null, count: 0, failed: 1 }
    expect(success.byTag).toMatchObject([
      { name: 'lost', ...failed },
      { name: 'won', rate: 1, failed: 0 },
    ])
    expect(success.bySplit).toMatchObject([
      { name: 'train', rate: 1 },
      { name: 'test', ...failed },
    ])
    expect(success.byDifficulty).toMatchObject([
      { from: 0.1, rate: 1 },
      { from: 0.9, ...failed },
    ])
  })

  it('counts the first tries that failed', () => {
    const again = { ...episode('a', 0, 1), try: 1 }
    const { success } = summaryOf([failure('a', 0, 'lost', 'x'), again, episode('b', 0, 1), episode('c', 0, 0)])
    expect(success.overall).toMatchObject({ successes: 2, count: 3 })
    expect(success.firstTry).toMatchObject({ successes: 1, count: 2, failed: 1 })
  })

  it('bounds pass@k and pass^k by what they are if failed attempts are all lost, and all won', () => {
    const finished = [episode('a', 0, 1), episode('a', 1, 0), episode('b', 0, 1), episode('b', 1, 1)]
    const failed = [failure('a', 2, 'lost', 'x'), failure('c', 0, 'lost', 'x'), failure('c', 1, 'lost', 'x')]
    const judged = (reward: number) =>
      summaryOf([...finished, ...failed.map(({ task, attempt }) => episode(task.id, attempt, reward))]).success
    const { passAtK, passHatK } = summaryOf([...finished, ...failed]).success
    expect(passAtK.map(({ k }) => k)).toEqual([1, 2])
    for (const [i, { k, bounds }] of passAtK.entries()) {
      expect(bounds?.low).toBeCloseTo(judged(0).passAtK[k - 1]?.mean ?? Number.NaN, 12)
      expect(bounds?.high).toBeCloseTo(judged(1).passAtK[k - 1]?.mean ?? Number.NaN, 12)
      expect(passHatK[i]?.bounds?.low).toBeCloseTo(judged(0).passHatK[k - 1]?.mean ?? Number.NaN, 12)
      expect(passHatK[i]?.bounds?.high).toBeCloseTo(judged(1).passHatK[k - 1]?.mean ?? Number.NaN, 12)
    }
    expect(summaryOf(finished).success.passAtK.map(({ bounds }) => bounds)).toEqual([null, null])
  })

  it('counts a finished line without returns as failed', () => {
    const summary = summaryOf([episode('a', 0, 1, { returns: null })])
    expect(summary.counts).toMatchObject({ finished: 0, failed: 1 })
    expect(summary.failures[0]?.name).toBe('no-returns')
  })

  it('counts as success by default an episode that terminates with a positive unshaped return', () => {
    const records = [
      episode('won', 0, 1),
      episode('unpaid', 0, 0),
      episode('cut', 0, 1, { outcome: { kind: 'finished', end: { kind: 'truncated', reason: 'step-limit' } } }),
      episode('shaped', 0, 0, { returns: { total: 1, unshaped: -0.1, discounted: 1 } }),
    ]
    const { success, ends } = summaryOf(records)
    expect(success.overall).toMatchObject({ successes: 1, count: 4, rate: 0.25 })
    expect(ends).toEqual({ terminated: [{ name: 'done', count: 3 }], truncated: [{ name: 'step-limit', count: 1 }] })
  })

  it('estimates pass@k over the tasks that have k attempts', () => {
    const records = [episode('a', 0, 1), episode('a', 1, 0), episode('a', 2, 0), episode('b', 0, 0)]
    const estimates = summaryOf(records).success.passAtK
    expect(estimates.map(({ k, clusters }) => [k, clusters])).toEqual([
      [1, 2],
      [2, 1],
      [3, 1],
    ])
    // a: 1 of 3 attempts; two of three include it with probability 2/3.
    expect(estimates.map(({ mean }) => mean)).toEqual([expect.closeTo(1 / 6, 12), expect.closeTo(2 / 3, 12), 1])
  })

  it('averages rewards by step over the episodes that have it, shaped and unshaped separately', () => {
    const step = (total: number, shaping: number) => ({
      ...first.steps[0]!,
      reward: { total, shaping, terms: { goal: total - shaping } },
    })
    const records = [
      episode('a', 0, 1, { steps: [step(0.75, 0.25), step(0.25, -0.25)] }),
      episode('b', 0, 1, { steps: [step(0.25, 0.25)] }),
    ]
    const { byStep, byTerm } = summaryOf(records).rewards
    expect(byStep).toEqual([
      { count: 2, total: 0.5, unshaped: 0.25 },
      { count: 1, total: 0.25, unshaped: 0.5 },
    ])
    expect(byTerm).toEqual([{ name: 'goal', mean: 0.5, steps: 2 }])
  })

  it('prefers a finished line to a failed one of the same episode, and counts the conflict', () => {
    const summary = summaryOf([failure('a', 0, 'lost', 'x'), episode('a', 0, 1)])
    expect(summary.counts).toMatchObject({ scheduled: 1, finished: 1, failed: 0, conflicts: 1 })
  })

  it('counts repeated lines outside the summary', () => {
    const fold = createFold()
    for (const record of [first, first, first]) fold.add(record)
    expect(fold.repeated).toBe(2)
    expect(fold.finish({ name: 'test' }).counts).toMatchObject({ finished: 1, conflicts: 0 })
  })

  it('takes at most 128 bytes per episode', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const kept = () => {
      collect()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const fold = createFold()
    const play = (from: number, to: number) => {
      for (let i = from; i < to; i++) fold.add(episode(`task ${i >> 2}`, i & 3, i % 7))
    }
    play(0, 1_000)
    const before = kept()
    play(1_000, 33_000)
    expect((kept() - before) / 32_000).toBeLessThanOrEqual(128)
    expect(fold.finish({ name: 'test' }).counts.finished).toBe(33_000)
  })
})
