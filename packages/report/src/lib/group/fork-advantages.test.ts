import { createRng, type EpisodeRecord, type RecordedStep, type Rng } from '@episodic/protocol'
import { mean, probit, sampleVariance } from 'simple-statistics'
import { describe, expect, it } from 'vitest'
import { playRun } from '../fold/simulated-run.fixture.ts'
import { type ForkAdvantage, forkAdvantagesOf } from './fork-advantages.ts'

const [played] = playRun({ tasks: 1, attempts: 1, failures: 0 }) as [EpisodeRecord]
const [anyStep] = played.steps as [RecordedStep]

/**
 * A tree of one step before each fork and one after the last, whose rewards `reward` decides by the way that leads to
 * them.
 */
function treeOf(lines: readonly number[], reward: (path: readonly number[]) => number): EpisodeRecord[] {
  let paths: (readonly number[])[] = [[]]
  for (const count of lines)
    paths = paths.flatMap((path) => Array.from({ length: count }, (_, line) => [...path, line]))
  const known = new Map<string, number>()
  const earned = (path: readonly number[]) => {
    const value = known.get(path.join()) ?? reward(path)
    known.set(path.join(), value)
    return value
  }
  return paths.map((path, attempt) => {
    const ways = [[], ...path.map((_, i) => path.slice(0, i + 1))]
    const steps = ways.map((way) => ({
      ...anyStep,
      stateHash: way.join(),
      reward: { total: earned(way), terms: {}, shaping: 0 },
    }))
    const branch = {
      rollout: 0,
      leaves: paths.length,
      copies: 1,
      path,
      at: path.map((_, i) => i + 1),
      seeds: path.map((line) => (line === 0 ? null : `seed ${line}`)),
    }
    return { ...played, attempt, steps, branch }
  })
}

function advantagesIn(records: readonly EpisodeRecord[], discount = 1): ForkAdvantage[][] {
  return records.map((record) => forkAdvantagesOf(record, records, discount))
}

function normal(rng: Rng): number {
  return probit(Math.min(1 - 1e-9, Math.max(1e-9, rng.float())))
}

describe('forkAdvantagesOf', () => {
  it('subtracts the mean return of the siblings from that of the lines below, with Welch’s interval', () => {
    const rng = createRng('tree')
    const discount = 0.5
    const records = treeOf([3, 2], () => rng.float())
    const returned = (record: EpisodeRecord) =>
      record.steps.slice(1).reduce((sum, { reward }, k) => sum + discount ** k * reward.total, 0)
    const below = [0, 1, 2].map((line) => records.filter(({ branch }) => branch?.path[0] === line).map(returned))
    for (const [i, [first, second]] of advantagesIn(records, discount).entries()) {
      const line = i >> 1
      const own = below[line] as number[]
      const others = below.filter((_, other) => other !== line).map((each) => mean(each))
      const [a, b] = [sampleVariance(own) / 2, sampleVariance(others) / 2]
      expect(first).toMatchObject({ from: 1, to: 2, lines: 2, siblings: 2 })
      expect(first?.value).toBeCloseTo(mean(own), 12)
      expect(first?.baseline).toBeCloseTo(mean(others), 12)
      expect(first?.advantage).toBeCloseTo(mean(own) - mean(others), 12)
      // One degree of freedom, unless the variances are the same.
      expect((first?.high ?? 0) - (first?.advantage ?? 0)).toBeCloseTo(12.7062 * Math.sqrt(a + b), 3)
      // A single line has no interval.
      const [leaf, sibling] = [records[i], records[i ^ 1]].map((record) => record?.steps[2]?.reward.total ?? 0) as [
        number,
        number,
      ]
      expect(second).toMatchObject({ from: 2, to: 3, lines: 1, siblings: 1, low: null, high: null })
      expect(second?.advantage).toBeCloseTo(leaf - sibling, 12)
    }
  })

  it('holds the advantage of a step in 95 of 100 trees, to within 3', () => {
    const rng = createRng('coverage of forks')
    const trees = 600
    let held = 0
    for (let tree = 0; tree < trees; tree++) {
      // What the first step of a line earns is fixed, and what comes after it is chance.
      const records = treeOf([4, 4], (path) =>
        path.length === 0 ? 0 : path.length === 1 ? (path[0] === 1 ? 1 : 0) : normal(rng),
      )
      const [first] = advantagesIn(records)[4] as ForkAdvantage[]
      held += Number((first?.low ?? 2) <= 1 && 1 <= (first?.high ?? 0))
    }
    expect(held / trees).toBeGreaterThanOrEqual(0.92)
    expect(held / trees).toBeLessThanOrEqual(0.98)
  })

  it('leaves failed lines out, and takes the finished try of a leaf', () => {
    const records = treeOf([3], (path) => path[0] ?? 0)
    const failed: EpisodeRecord = {
      ...(records[2] as EpisodeRecord),
      outcome: { kind: 'failed', error: { code: 'time-out', message: 'No answer.' } },
      returns: null,
    }
    const [[first], , [last]] = advantagesIn([records[0], records[1], failed] as EpisodeRecord[]) as [
      ForkAdvantage[],
      ForkAdvantage[],
      ForkAdvantage[],
    ]
    expect(first).toMatchObject({ advantage: -1, lines: 1, siblings: 1 })
    expect(last).toMatchObject({ value: null, advantage: null, lines: 0, siblings: 2 })
    const [again] = advantagesIn([...records, failed])[2] as ForkAdvantage[]
    expect(again).toMatchObject({ value: 2, advantage: 1.5, siblings: 2 })
  })

  it('counts a line that ended before its next fork once, though it is sealed for each leaf below', () => {
    const records = treeOf([2, 2], (path) => path.length)
    const [early] = records as [EpisodeRecord]
    const ended = {
      ...early,
      steps: early.steps.slice(0, 2),
      branch: { ...early.branch!, copies: 2, path: [0], at: [1] },
    }
    const [[first], , [other]] = advantagesIn([ended, { ...ended, attempt: 1 }, ...records.slice(2)]) as [
      ForkAdvantage[],
      ForkAdvantage[],
      ForkAdvantage[],
    ]
    expect(first).toMatchObject({ from: 1, to: 2, value: 1, baseline: 3, lines: 1, siblings: 1 })
    expect(other).toMatchObject({ value: 3, baseline: 1, lines: 2, siblings: 1 })
  })

  it('compares lines that part at one fork alone, also where other lines have reached the same state', () => {
    const records = treeOf([2, 2], (path) => (path[0] ?? 0) * 10 + (path[1] ?? 0))
    const alike = records.map((record) => ({
      ...record,
      steps: record.steps.map((step) => ({ ...step, stateHash: 'same' })),
    }))
    expect(advantagesIn(alike).map(([, second]) => second?.advantage)).toEqual([-1, 1, -1, 1])
  })

  it('never compares lines of different states, and has nothing for what is no leaf', () => {
    const records = treeOf([2], (path) => path[0] ?? 0)
    const [one, other] = records as [EpisodeRecord, EpisodeRecord]
    const elsewhere = { ...other, steps: other.steps.map((step) => ({ ...step, stateHash: 'elsewhere' })) }
    const [[alone]] = advantagesIn([one, elsewhere]) as [ForkAdvantage[]]
    expect(alone).toMatchObject({ value: 0, baseline: null, advantage: null, siblings: 0 })
    expect(advantagesIn([played])).toEqual([[]])
  })
})
