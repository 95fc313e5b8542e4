import { createRng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { knownDifference, knownRate, rateEvidence } from './known-rate.ts'

const RUNS = 10_000
const ROUNDS = 16

const SITUATIONS: readonly (readonly [name: string, chances: readonly number[]])[] = [
  ['all tasks are alike', Array(50).fill(0.5)],
  ['tasks are easy and hard', Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? 0.95 : 0.1))],
  ['nearly everything is solved', Array(40).fill(0.97)],
  ['most tasks never vary', Array.from({ length: 90 }, (_, i) => [0, 1, 0.5][i % 3] as number)],
  ['few tasks', Array.from({ length: 10 }, (_, i) => 0.3 + 0.03 * i)],
]

type Tasks = { finished: number; successes: number }[]
interface Baseline {
  readonly others?: readonly number[]
  readonly rollouts?: number
  /** The share of episodes of a task of the run that fail. */
  readonly fails?: (task: number) => number
}

/** Plays runs of 16 rounds, and before each of them a baseline of some rollouts. */
function simulateRounds(
  chances: readonly number[],
  name: string,
  look: (tasks: Tasks, baseline: Tasks) => boolean,
  { others = chances, rollouts = 0, fails = () => 0 }: Baseline = {},
) {
  const rng = createRng(name)
  for (let run = 0; run < RUNS; run++) {
    const baseline = others.map((chance) => {
      const won = Array.from({ length: rollouts }, () => Number(rng.float() < chance))
      return { finished: rollouts, successes: won.reduce((sum, one) => sum + one, 0) }
    })
    const tasks = chances.map(() => ({ finished: 0, successes: 0 }))
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, task] of tasks.entries()) {
        if (fails(i) > 0 && rng.float() < fails(i)) continue
        task.finished += 1
        task.successes += Number(rng.float() < (chances[i] as number))
      }
      if (look(tasks, baseline)) break
    }
  }
}

type Known = (tasks: Tasks, baseline: Tasks) => ReturnType<typeof knownRate>
/** Returns the share of runs whose interval ever leaves out what is true. */
function shareMissed(chances: readonly number[], name: string, truth: number, known: Known, baseline?: Baseline) {
  let missed = 0
  const look = (...played: Parameters<Known>) => {
    const found = known(...played)
    const isOut = found !== null && Math.abs(found.rate - truth) > found.half
    missed += Number(isOut)
    return isOut
  }
  simulateRounds(chances, name, look, baseline)
  return missed / RUNS
}

const meanOf = (chances: readonly number[]) => chances.reduce((sum, chance) => sum + chance, 0) / chances.length

/** The chances of another player in the tasks of each situation, and how often it has played them. */
const BASELINES: readonly (readonly [change: (chance: number, task: number) => number, rollouts: number])[] = [
  [() => 0.4, 4],
  [(chance, i) => (i % 3 === 0 ? 1 - chance : chance), 2],
  [() => 0.9, 8],
  [(chance) => chance, 3],
  [(chance, i) => chance / (1 + (i % 2)), 12],
]

/** Errors of 5 %, power of 80 %. */
const [ERROR, POWER] = [1.96, 0.84]

describe('knownRate', () => {
  it.each(SITUATIONS)(
    '%s: the interval holds the rate after every one of 16 rounds in 95 %% of runs',
    (name, chances) =>
      expect(shareMissed(chances, name, meanOf(chances), (tasks) => knownRate(tasks, 300))).toBeLessThanOrEqual(0.05),
  )

  it('decides about a clear difference with fewer than 40 % of the episodes of a plan for a difference of 5 points', () => {
    const chances = Array.from({ length: 32 }, (_, i) => [0.7, 0.85, 0.95, 1][i % 4] as number)
    const limit = 0.75
    const spread = meanOf(chances.map((chance) => chance * (1 - chance)))
    const fixed = ((ERROR + POWER) / 0.05) ** 2 * spread
    let [looks, runs, wrong] = [0, 0, 0]
    simulateRounds(chances, 'clear', (tasks) => {
      const known = knownRate(tasks, 300)
      looks += 1
      const isDecided = known !== null && Math.abs(known.rate - limit) >= known.half
      runs += Number(isDecided)
      wrong += Number(isDecided && known.rate < limit)
      return isDecided
    })
    expect(runs / RUNS).toBeGreaterThan(0.99)
    expect(wrong / RUNS).toBeLessThan(0.001)
    expect((looks * chances.length) / RUNS / fixed).toBeLessThan(0.4)
  })
})

describe('knownDifference', () => {
  const differenceOf = (tasks: Tasks, baseline: Tasks) => {
    const [own, other] = [rateEvidence(tasks, 600), rateEvidence(baseline)]
    return own && other && knownDifference(own, other)
  }

  it.each(
    SITUATIONS.map(([name, chances], i) => [name, chances, ...(BASELINES[i] as (typeof BASELINES)[number])] as const),
  )(
    '%s: the interval holds the difference from a baseline after every one of 16 rounds in 95 %% of runs',
    (name, chances, change, rollouts) => {
      const others = chances.map(change)
      const difference = meanOf(chances) - meanOf(others)
      const missed = shareMissed(chances, `from ${name}`, difference, differenceOf, { others, rollouts })
      expect(missed).toBeLessThanOrEqual(0.05)
    },
  )

  it.each([
    ['hard tasks fail', [0.9, 0.2]],
    ['tasks that vary fail', [1, 0.5]],
  ])(
    '%s more often: the interval holds the difference of the tasks that have finished in 95 %% of runs',
    (name, [even = 0, odd = 0]) => {
      const chances = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? even : odd))
      const known = (tasks: Tasks, baseline: Tasks) => {
        const shared = chances.flatMap((_, i) => ((tasks[i]?.finished ?? 0) > 0 ? [i] : []))
        const of = (played: Tasks) => shared.map((i) => played[i] as Tasks[number])
        return differenceOf(of(tasks), of(baseline))
      }
      // Both players are alike.
      const missed = shareMissed(chances, name, 0, known, { rollouts: 8, fails: (i) => 0.7 * (i % 2) })
      expect(missed).toBeLessThanOrEqual(0.05)
    },
  )

  it('finds no difference where only failures differ', () => {
    const [run, baseline] = [tasksOf([1, 20, 20], [1, 20, 0]), tasksOf([1, 20, 20], [1, 10, 0])]
    expect(differenceOf(run, baseline)?.rate).toBe(0)
  })

  it('decides that a run is not worse by 3 points with fewer than 40 % of the episodes of a fixed plan, if it is better by 8', () => {
    const others = Array.from({ length: 40 }, (_, i) => [0.55, 0.7, 0.8, 0.95][i % 4] as number)
    const chances = others.map((chance) => Math.min(1, chance + 0.08 + (chance > 0.9 ? -0.03 : 0.01)))
    const spread = meanOf(chances.map((chance) => chance * (1 - chance))) + meanOf(others.map((p) => p * (1 - p)))
    // Both runs of a plan that finds 3 points, equal ones being as good.
    const fixed = ((1.645 + POWER) / 0.03) ** 2 * spread
    let [looks, decided, wrong] = [0, 0, 0]
    const look = (tasks: Tasks, baseline: Tasks) => {
      looks += 1
      const known = differenceOf(tasks, baseline)
      const isDecided = known !== null && Math.abs(known.rate + 0.03) >= known.half
      decided += Number(isDecided)
      wrong += Number(isDecided && known.rate < -0.03)
      return isDecided
    }
    simulateRounds(chances, 'clear difference', look, { others, rollouts: 24 })
    expect(decided / RUNS).toBeGreaterThan(0.99)
    expect(wrong / RUNS).toBeLessThan(0.001)
    expect((looks * chances.length) / RUNS / fixed).toBeLessThan(0.4)
  })

  // By a program in Python that integrates the mixtures (scipy.integrate.quad), finds where they reach 1/α, and of two
  // the largest difference within: an implementation that shares no formula with this one.
  const tasksOf = (...given: (readonly [count: number, finished: number, successes: number])[]) =>
    given.flatMap(([count, finished, successes]) => Array<Tasks[number]>(count).fill({ finished, successes }))
  const PLAYED = {
    a: tasksOf([10, 4, 2], [5, 4, 4], [5, 4, 0]),
    b: tasksOf([12, 9, 7], [12, 9, 8], [12, 9, 9], [12, 9, 3]),
    c: tasksOf([30, 2, 1], [30, 2, 2], [30, 1, 1]),
  }
  it.each([
    ['a', 0.150930051369, 'b', 0.201204758477],
    ['b', 0.055004321559, 'c', 0.160391818487],
    ['c', 0.134845650647, 'a', 0.223792750206],
  ] as const)('has the halves that a program in Python finds: %s ± %f, from %s ± %f', (own, half, other, both) => {
    expect(knownRate(PLAYED[own], 300)?.half).toBeCloseTo(half, 8)
    expect(differenceOf(PLAYED[own], PLAYED[other])?.half).toBeCloseTo(both, 7)
  })
})
