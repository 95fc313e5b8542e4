import type { EpisodeRecord } from '@episodic/protocol'
import { createFold } from '@episodic/report/fold/fold'
import { isSuccess } from '@episodic/report/fold/scored-outcome'
import { type Summary, summarySchema } from '@episodic/report/fold/summary'
import { playRun } from '@episodic/report/testing'
import fc from 'fast-check'
import { max, mean, sampleStandardDeviation } from 'simple-statistics'
import { describe, expect, it } from 'vitest'
import { formatSummary } from './format-summary.ts'

const END = { kind: 'terminated', reason: 'done' } as const

/** Four leaves for each rollout: two lines at the start, and again two after a step. */
const LEAVES = 4

/** Turns episodes into leaves: each four attempts of a task form a tree. */
function branched(records: readonly EpisodeRecord[]): EpisodeRecord[] {
  return records.map((record) => {
    const place = record.attempt % LEAVES
    const [first, ...later] = record.steps
    const shared = `${record.task.id} ${Math.floor(record.attempt / 2)}`
    const steps = first ? [{ ...first, stateHash: shared }, ...later] : []
    const path = steps.length > 0 ? [place >> 1, place % 2] : [place >> 1]
    const branch = {
      rollout: Math.floor(record.attempt / LEAVES),
      leaves: LEAVES,
      copies: 1,
      path,
      at: [0, 1].slice(0, path.length),
      seeds: path.map((line) => (line === 0 ? null : `fresh ${line}`)),
    }
    return { ...record, steps, branch }
  })
}

function summaryOf(records: Iterable<EpisodeRecord>, discount = 1): Summary {
  const fold = createFold({ discount })
  for (const record of records) fold.add(record)
  return fold.finish({ name: 'test' })
}

const run = branched(playRun({ tasks: 10, attempts: 2 * LEAVES, failures: 0 }))
const unshaped = ({ returns }: EpisodeRecord) => returns?.unshaped ?? Number.NaN
const succeeded = (record: EpisodeRecord) => record.outcome.kind === 'finished' && isSuccess(record)
const trees = [...Map.groupBy(run, ({ task, branch }) => `${task.id} ${branch?.rollout}`).values()]

describe('the best of n', () => {
  it('is the mean over rollouts of their best leaf, beside the mean leaf', () => {
    const { branch, success } = summaryOf(run)
    expect(branch).toMatchObject({ leaves: LEAVES, rollouts: 20, partial: 0 })
    expect(branch?.best.return).toMatchObject({ count: 20, clusters: 10 })
    expect(branch?.best.return?.mean).toBeCloseTo(mean(trees.map((leaves) => max(leaves.map(unshaped)))), 12)
    expect(branch?.best.success.successes).toBe(trees.filter((leaves) => leaves.some(succeeded)).length)
    expect(branch?.mean.return?.mean).toBeCloseTo(mean(run.map(unshaped)), 12)
    expect(branch?.mean.success.successes).toBe(run.filter(succeeded).length)
    // Leaves that share steps are not independent attempts.
    expect(success.passAtK.map(({ k }) => k)).toEqual([1])
  })

  it('excludes and counts rollouts that lack a leaf', () => {
    const failed: EpisodeRecord = {
      ...(run[0] as EpisodeRecord),
      outcome: { kind: 'failed', error: { code: 'time-out', message: 'No answer.' } },
      returns: null,
    }
    const { branch, counts } = summaryOf([failed, ...run.slice(1, -1)])
    expect(counts).toMatchObject({ finished: run.length - 2, failed: 1 })
    expect(branch).toMatchObject({ rollouts: 18, partial: 2, mean: { return: { count: 18 * LEAVES } } })
  })

  it('is bounded by what it is if failed leaves are all lost, and all won', () => {
    const failing = (record: EpisodeRecord, i: number): EpisodeRecord =>
      i % 5 > 0
        ? record
        : { ...record, outcome: { kind: 'failed', error: { code: 'lost', message: 'x' } }, returns: null }
    const judged = (isWon: boolean) =>
      summaryOf(
        run.map((record, i) =>
          i % 5 > 0 ? record : { ...record, outcome: { kind: 'finished', end: END, success: isWon } },
        ),
      ).branch
    // A rollout that lacks a leaf is in no bound.
    const summary = summaryOf([...run.map(failing), ...branched(playRun({ seed: 'other', tasks: 1, attempts: 3 }))])
    const { branch } = summary
    for (const figure of ['best', 'mean'] as const)
      expect(branch?.[figure].bounds).toEqual({
        low: judged(false)?.[figure].success.rate,
        high: judged(true)?.[figure].success.rate,
      })
    expect(branch).toMatchObject({ rollouts: 4, failed: 16, partial: 17 })
    expect(formatSummary(summary, { color: false })).toMatch(/best of 4.*\n {4}success .* % with 16 failed\n/)
    expect(summaryOf(run).branch).toMatchObject({ failed: 0, best: { bounds: null }, mean: { bounds: null } })
  })

  it('is null for a run without branches', () => {
    const plain = summaryOf(playRun({ tasks: 3, attempts: 2 }))
    expect(plain.branch).toBeNull()
    expect(formatSummary(plain, { color: false })).not.toMatch(/best of|value of a state/)
  })
})

describe('the value of a state', () => {
  it('is the mean discounted unshaped return-to-go of its lines, with Student’s interval', () => {
    const discount = 0.9
    const drawn = summaryOf(run, discount).branch?.trees ?? []
    expect(drawn).toHaveLength(6)
    for (const { task, rollout, points } of drawn) {
      const leaves = run.filter((record) => record.task.id === task && record.branch?.rollout === rollout)
      for (const { path, at, value, returnsToGo, observation } of points) {
        const below = leaves.filter(({ branch }) => path.every((line, i) => line === branch?.path[i]))
        const expected = [0, 1].map((line) =>
          mean(
            below
              .filter(({ branch }) => branch?.path[path.length] === line)
              .map(({ steps }) =>
                steps
                  .slice(at)
                  .reduce((sum, { reward }, k) => sum + discount ** k * (reward.total - reward.shaping), 0),
              ),
          ),
        )
        for (const [line, earned] of expected.entries()) expect(returnsToGo[line]).toBeCloseTo(earned, 12)
        expect(value?.mean).toBeCloseTo(mean(expected), 12)
        expect(value?.standardError).toBeCloseTo(sampleStandardDeviation(expected) / Math.sqrt(2), 12)
        // t for one degree of freedom.
        if (value?.high != null) expect(value.high - value.mean).toBeCloseTo(12.7062 * (value.standardError ?? 0), 3)
        expect(observation).toBe(at === 0 ? below[0]?.start?.observation.text : below[0]?.steps[0]?.observation.text)
      }
      expect(points.map(({ path, at }) => [path, at])).toEqual([
        [[], 0],
        [[0], 1],
        [[1], 1],
      ])
    }
  })

  it('never mixes lines of different states, if a tree was played twice', () => {
    const [tree] = trees as [EpisodeRecord[]]
    const mixed = tree.map((record, i) => {
      const [first, ...later] = record.steps
      return first && i === 1 ? { ...record, steps: [{ ...first, stateHash: 'elsewhere' }, ...later] } : record
    })
    const points = summaryOf(mixed).branch?.trees[0]?.points ?? []
    expect(points.map(({ path, returnsToGo }) => [path.join(), returnsToGo.length])).toEqual([
      ['', 2],
      ['0', 1],
      ['0', 1],
      ['1', 2],
    ])
  })

  it('is the same for leaves in any order, with any repetitions, and matches its schema', () => {
    const failed: EpisodeRecord = {
      ...(run[9] as EpisodeRecord),
      outcome: { kind: 'failed', error: { code: 'time-out', message: 'No answer.' } },
      returns: null,
    }
    const lines = [...run, failed]
    const expected = summaryOf(lines)
    expect(summarySchema.parse(JSON.parse(JSON.stringify(expected)))).toEqual(expected)
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...lines, ...lines.slice(0, 9)], { minLength: lines.length + 9 }),
        (shuffled) => {
          expect(JSON.stringify(summaryOf(shuffled))).toBe(JSON.stringify(expected))
        },
      ),
      { numRuns: 20 },
    )
  })
})

describe('what is shown of branches', () => {
  it('is a tree of lines', () => {
    const [tree] = summaryOf(run).branch?.trees ?? []
    expect(tree?.leaves.map(({ path }) => path)).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ])
  })

  it('has two lines and a block in a terminal', () => {
    const text = formatSummary(summaryOf(run), { color: false })
    expect(text).toMatch(/best of 4 +\S+ +95 % \S+ to \S+\n +success +\S+ % +95 % /)
    expect(text).toMatch(/value of a state\n( {4}guess-\S+, rollout \d, step 0 +\S+ \(.*\)\n){6}/)
  })

  it('is bounded for any number of lines', () => {
    const [record] = run as [EpisodeRecord]
    const wide = Array.from({ length: 500 }, (_, attempt) => {
      const path = [Math.floor(attempt / 10), attempt % 10]
      const branch = { rollout: 0, leaves: 500, copies: 1, path, at: [0, 1], seeds: ['a', 'b'] }
      return {
        ...record,
        attempt,
        branch,
        start: { observation: { text: 'x'.repeat(9_999), structured: null }, potential: 0 },
      }
    })
    const [tree] = summaryOf(wide).branch?.trees ?? []
    expect([tree?.points.length, tree?.leaves.length]).toEqual([24, 64])
    expect(tree?.omitted).toEqual({ points: 27, leaves: 436 })
    expect(tree?.points[0]?.observation).toHaveLength(401)
  })
})
