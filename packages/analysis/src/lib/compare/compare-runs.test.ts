import type { EpisodeRecord } from '@episodic/protocol'
import { comparisonSchema } from '@episodic/report/compare/comparison'
import { verdictOf } from '@episodic/report/notes/comparison-notes'
import { playRun } from '@episodic/report/testing'
import { HarnessError } from '@episodic/run/base/harness-error'
import type { RunConfiguration } from '@episodic/run/folder/plan/configuration'
import fc from 'fast-check'
import { mean, sampleStandardDeviation } from 'simple-statistics'
import { describe, expect, it } from 'vitest'
import { compareRuns } from './compare-runs.ts'
import type { ComparedRun } from './compared-run.ts'
import { formatComparison } from './format-comparison.ts'
import { createPlayedTasks } from './played-tasks.ts'

const CONFIGURATION: RunConfiguration = {
  environment: { name: 'number-guessing', version: '1.0.0' },
  tasks: { from: 'generator', count: 12, difficulty: [0, 1], split: null },
  policy: { name: 'noisy-bisection', sha256: null },
  sampling: null,
  rollouts: 4,
  branch: [],
  maxSteps: null,
  weights: {},
  shaping: false,
  discount: 1,
  seed: '0',
}

function runOf(records: Iterable<EpisodeRecord>, change: Partial<RunConfiguration> = {}, scheduled = 48): ComparedRun {
  const { tasks, add } = createPlayedTasks()
  for (const record of records) add(record)
  return { manifest: { name: 'run', scheduled, configuration: { ...CONFIGURATION, ...change } }, tasks }
}

const records = playRun({ tasks: 12, attempts: 4, failures: 0 })
/** The same episode with another end. */
const ended = (record: EpisodeRecord, unshaped: number): EpisodeRecord => ({
  ...record,
  outcome: { kind: 'finished', end: { kind: 'terminated', reason: unshaped > 0 ? 'solved' : 'lost' } },
  returns: { total: unshaped, unshaped, discounted: unshaped },
})
const failed = (record: EpisodeRecord): EpisodeRecord => ({
  ...record,
  outcome: { kind: 'failed', error: { code: 'lost', message: 'x' } },
  returns: null,
})
const solved = records.map((record) => ended(record, 1))
const refusal = (b: ComparedRun, a = runOf(records)) => {
  try {
    compareRuns(a, b)
  } catch (error) {
    if (HarnessError.is(error, 'runs-differ')) return error.message
    throw error
  }
  return 'none'
}

/** The same runs of the same worlds, with another prompt, by which the ids of the tasks differ. */
const prompted = (run: readonly EpisodeRecord[], prompt: string): EpisodeRecord[] =>
  run.map((record) => ({ ...record, task: { ...record.task, prompt, id: `${prompt}-${record.task.id}` } }))

describe('compareRuns', () => {
  it('pairs tasks whose prompts differ by their parameters and seed, says so, and names the episodes of both', () => {
    const [plain, other] = [compareRuns(runOf(records), runOf(solved)), runOf(prompted(solved, 'other'))]
    const comparison = compareRuns(runOf(records), other)
    const { tasks, episodes, ...figures } = comparison
    expect(tasks).toEqual({ ...plain.tasks, promptsDiffer: 12 })
    expect(figures).toEqual({ ...plain, tasks: undefined, episodes: undefined })
    expect(episodes.gained.flips.map(({ taskInB, ...flip }) => flip)).toEqual(plain.episodes.gained.flips)
    for (const { task, taskInB } of episodes.gained.flips) expect(taskInB).toBe(`other-${task}`)
    expect(formatComparison(comparison, { color: false })).toContain(
      '12 tasks paired by parameters and seed: the prompts differ',
    )
    expect(comparisonSchema.parse(JSON.parse(JSON.stringify(comparison)))).toEqual(comparison)
  })

  it('does not pair tasks of which a run has several with one setup', () => {
    const [first] = records
    const alike = [first, { ...first, task: { ...first!.task, id: 'again' } }] as EpisodeRecord[]
    expect(refusal(runOf(prompted([first!], 'other')), runOf(alike))).toContain('share no task')
  })

  it('pairs tasks, each counted once with the mean of its rollouts', () => {
    const returns = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 48, maxLength: 48 })
    fc.assert(
      fc.property(returns, returns, fc.subarray([...records.keys()], { minLength: 40 }), (inA, inB, kept) => {
        const a = records.map((record, i) => ended(record, inA[i] as number))
        const b = kept.map((i) => ended(records[i] as EpisodeRecord, inB[i] as number))
        const comparison = compareRuns(runOf(a), runOf(b))
        const differences = [...new Set(b.map(({ task }) => task.id))].map((id) => {
          const of = (run: EpisodeRecord[]) =>
            mean(run.flatMap(({ task, returns }) => (task.id === id && returns ? [returns.unshaped] : [])))
          return of(b) - of(a)
        })
        expect(comparison.return?.difference.mean).toBeCloseTo(mean(differences), 9)
        const error = sampleStandardDeviation(differences) / Math.sqrt(differences.length)
        expect(comparison.return?.difference.standardError).toBeCloseTo(error, 9)
        expect(comparison.tasks).toMatchObject({ shared: differences.length, compared: differences.length })
        expect(comparison.episodes.paired).toBe(kept.length)
        const flipped = kept.filter((i) => (inA[i] as number) > 0 !== (inB[i] as number) > 0).length
        expect(comparison.episodes.gained.count + comparison.episodes.lost.count).toBe(flipped)
        expect(comparisonSchema.parse(JSON.parse(JSON.stringify(comparison)))).toEqual(comparison)
      }),
      { numRuns: 30 },
    )
  })

  it('is the same for lines in any order, with any repetitions, and counts the same lines as a report', () => {
    const conflicting = [...records, failed(records[5] as EpisodeRecord)]
    const expected = JSON.stringify(compareRuns(runOf(solved), runOf(records)))
    const anyOrder = fc.shuffledSubarray([...conflicting, ...records.slice(0, 9)], { minLength: 58 })
    fc.assert(
      fc.property(anyOrder, (shuffled) => {
        expect(JSON.stringify(compareRuns(runOf(solved), runOf(shuffled)))).toBe(expected)
      }),
      { numRuns: 20 },
    )
  })

  it('finds no difference between a run and itself', () => {
    const comparison = compareRuns(runOf(records), runOf(records))
    for (const figure of [comparison.success, comparison.return, comparison.length])
      expect(figure).toMatchObject({ effect: 'same', p: 1, difference: { mean: 0, low: null } })
    expect(comparison.configuration).toEqual([])
    expect(comparison.episodes).toMatchObject({ paired: 48, gained: { count: 0 }, lost: { count: 0 } })
  })

  it('never scores a failed episode, and excludes tasks that have no other', () => {
    const first = records[0]?.task.id
    const b = solved.map((record) => (record.task.id === first || record.attempt === 3 ? failed(record) : record))
    const comparison = compareRuns(runOf(solved), runOf(b))
    expect(comparison).toMatchObject({
      a: { finished: 48, failed: 0, unresolved: 0 },
      b: { finished: 33, failed: 15, unresolved: 0 },
      tasks: { shared: 12, compared: 11 },
      success: { effect: 'same', b: 1 },
      episodes: { paired: 33 },
    })
    const nothing = compareRuns(runOf(solved), runOf(solved.map(failed)))
    expect([nothing.success, nothing.return, nothing.length, nothing.tasks.compared]).toEqual([null, null, null, 0])
    expect(formatComparison(nothing, { color: false })).toContain('there is nothing to compare')
  })

  it('compares runs with different rollouts, lists what flipped, and names tasks that one run lacks', () => {
    const lost = records.map((record) => ended(record, 0)).filter(({ attempt }) => attempt < 2)
    const [gone] = lost.splice(0, 2) as [EpisodeRecord]
    const comparison = compareRuns(runOf(lost, { rollouts: 2 }, 24), runOf(solved))
    expect(comparison.success).toMatchObject({
      a: 0,
      b: 1,
      higher: 11,
      effect: 'higher',
      difference: { mean: 1, low: null },
    })
    expect(comparison.episodes).toMatchObject({ paired: 22, gained: { count: 22 }, lost: { count: 0 } })
    expect(comparison.episodes.gained.flips[0]).toMatchObject({
      a: { ending: 'lost' },
      b: { ending: 'solved', unshaped: 1 },
    })
    expect(comparison.tasks).toMatchObject({ onlyA: { count: 0 }, onlyB: { count: 1, named: [gone.task.id] } })
    expect(comparison.a).toMatchObject({ scheduled: 24, finished: 22, unresolved: 2 })
    const text = formatComparison(comparison, { color: false })
    expect(text).toContain('rollouts also differs: 2 in A, 4 in B')
    expect(text).toContain(`1 task only in B: ${gone.task.id}`)
    expect(text).toContain('22 solved only by B of 22 paired episodes')
    expect(text.replace(/\s+/g, ' ')).toContain(
      'each counted once with the mean of its rollouts (the page of a run has the rate over episodes)',
    )
  })

  it('lists differences of the policy, and rejects another environment or other weights', () => {
    const policy = { name: 'other', sha256: null }
    expect(compareRuns(runOf(records), runOf(records, { policy })).configuration).toEqual([
      { key: 'policy.name', a: '"noisy-bisection"', b: '"other"' },
    ])
    const environment = { name: 'number-guessing', version: '1.1.0' }
    expect(refusal(runOf(records, { environment }))).toContain('environment.version: "1.0.0" in A, "1.1.0" in B')
    expect(refusal(runOf(records, { weights: { solved: 2 } }))).toContain('weights.solved: not given in A, 2 in B')
    expect(refusal(runOf(playRun({ seed: 'else', tasks: 2, attempts: 1 })))).toContain('The runs share no task')
    expect(refusal(runOf([]))).toBe('run cannot be compared. It has no sealed episode.')
    const stopped = { code: 'model-refused', message: 'Wrong key.\nMore.', at: '2026-01-01T00:00:00.000Z' }
    expect(refusal({ ...runOf([]), stopped })).toContain('It stopped (model-refused): Wrong key.')
  })

  it('rejects a task with two setups, between runs and within one', () => {
    const changed = records.map((record) => ({ ...record, params: { ...record.params, high: 7 }, seed: 'x' }))
    expect(refusal(runOf(changed))).toMatch(
      /Task \S+ is not the same in both runs:\n {2}params: .*\n {2}seed: .* x in B/,
    )
    expect(() => runOf([...records, { ...(changed[0] as EpisodeRecord), attempt: 9 }])).toThrow(
      /played with more than one params and seed in the run/,
    )
    // Without a session, defaults were not filled in, so the setup is unknown.
    const unopened = records.map((record) => ({ ...failed(record), start: null, params: {} }))
    expect(refusal(runOf(unopened))).toBe('none')
  })

  it('pairs pass@k and pass^k over the tasks with as many attempts in both, and says them in a row each', () => {
    const attempts = (solved: number) => records.map((record) => ended(record, record.attempt < solved ? 1 : 0))
    const fewer = attempts(4).filter(({ attempt }) => attempt < 3)
    // Two of four attempts succeed in A: 1 − C(2, 3) / C(4, 3) = 1 for pass@3, and C(2, 3) / C(4, 3) = 0 for pass^3.
    const comparison = compareRuns(runOf(attempts(2)), runOf(fewer, { rollouts: 3 }, 36))
    expect(comparison.passes).toMatchObject({
      k: 3,
      any: { a: 1, b: 1, effect: 'same' },
      all: { a: 0, b: 1, effect: 'higher', higher: 12 },
    })
    const text = formatComparison(comparison, { color: false })
    expect(text).toMatch(/pass@3 +100\.0 % +100\.0 %/)
    expect(text).toMatch(/pass\^3 +0\.0 % +100\.0 %/)
    expect(compareRuns(runOf(records, { branch: [{ at: 1, lines: 4 }] }), runOf(records)).passes).toBeNull()
  })

  it('does not say that a mean is unclear where the sign test finds a direction, nor that it earns what B earns', () => {
    // Eleven tasks are lower by a little, and one is higher by much.
    const small = runOf(solved)
    const firstTask = records[0]?.task.id
    const large = runOf(records.map((record) => ended(record, record.task.id === firstTask ? 100 : 0.9)))
    const comparison = compareRuns(small, large)
    expect(comparison.return).toMatchObject({ effect: 'unclear', higher: 1, lower: 11 })
    expect(comparison.return?.signP).toBeLessThan(0.05)
    const text = formatComparison(comparison, { color: false })
    expect(text).toContain('lower in more tasks; the mean is not shown to be')
    expect(text).not.toContain('significant')

    const earns = compareRuns(small, runOf(solved.map((record) => ended(record, 2))))
    expect(verdictOf(earns)).toBe('B solves as much in every task, and it earns more.')
    const few = new Set([...new Set(records.map(({ task }) => task.id))].slice(0, 5))
    const lost = (record: EpisodeRecord) => ended(record, few.has(record.task.id) ? 0 : 3)
    const unclear = compareRuns(small, runOf(records.map(lost)))
    expect(unclear.success).toMatchObject({ p: 0.0625, smallestP: 0.0625, effect: 'unclear' })
    expect(unclear.success?.difference.high).toBeLessThan(0)
    expect(verdictOf(unclear)).toMatch(/^Neither run is shown to solve more/)
    expect(verdictOf(unclear)).not.toContain('and it')
    expect(formatComparison(unclear, { color: false })).toContain(
      'detectable none: 5 tasks differ, so p is at least 0.063',
    )
  })

  it('shows at most 500 tasks, including the lowest and the highest', () => {
    const many = playRun({ tasks: 1_200, attempts: 1, failures: 0 })
    const b = many.map((record, i) => ended(record, i / 100))
    const { byTask } = compareRuns(runOf(many.map((record) => ended(record, 0))), runOf(b))
    expect(byTask).toHaveLength(500)
    expect([byTask[0]?.difference, byTask.at(-1)?.difference]).toEqual([0, 11.99])
  })
})
