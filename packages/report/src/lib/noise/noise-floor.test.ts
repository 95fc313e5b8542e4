import { createRng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { detectableDifference } from '../compare/shown-differences.ts'
import { clusteredMean } from '../fold/statistics.ts'
import { estimateNoise } from './noise-floor.ts'

const RUNS = 10_000

/** Situations: the chances of tasks, and episodes of each. */
const SITUATIONS: readonly (readonly [name: string, chances: readonly number[], rollouts: number])[] = [
  ['all tasks are alike', Array(60).fill(0.5), 4],
  ['tasks are easy and hard', Array.from({ length: 80 }, (_, i) => (i % 2 === 0 ? 0.9 : 0.2)), 3],
  ['tasks are spread', Array.from({ length: 50 }, (_, i) => 0.1 + (0.8 * i) / 50), 2],
  ['two of three tasks never vary', Array.from({ length: 90 }, (_, i) => [0, 1, 0.5][i % 3] as number), 5],
  ['few tasks and many rollouts', Array.from({ length: 12 }, (_, i) => 0.3 + 0.03 * i), 20],
]

describe('estimateNoise', () => {
  it.each(SITUATIONS)(
    '%s: equal runs differ in 5 %% of pairs, and those that differ by the floor in 80 %%',
    (...given) => {
      const [name, chances, rollouts] = given
      const rng = createRng(name)
      const draw = (chance: number) => {
        let successes = 0
        for (let i = 0; i < rollouts; i++) successes += Number(rng.float() < chance)
        return { finished: rollouts, successes }
      }
      const floors: number[] = []
      const shown = { equal: 0, apart: 0 }
      const exact = 2 * chances.reduce((sum, p) => sum + (p * (1 - p)) / rollouts, 0)
      const standardError = Math.sqrt(exact) / chances.length
      const floor = detectableDifference({ standardError, clusters: chances.length }) as number
      const isShown = (differences: readonly number[]) => {
        const found = clusteredMean(differences, [...differences.keys()])
        return found !== null && found.low !== null && (found.low > 0 || (found.high as number) < 0)
      }
      for (let run = 0; run < RUNS; run++) {
        const one = chances.map(draw)
        const other = chances.map(draw)
        floors.push(estimateNoise(one)?.floor ?? 0)
        const differences = one.map(({ successes }, t) => (successes - (other[t]?.successes as number)) / rollouts)
        shown.equal += Number(isShown(differences))
        shown.apart += Number(isShown(differences.map((difference) => difference + floor)))
      }
      const mean = floors.reduce((sum, one) => sum + one, 0) / RUNS
      expect(mean / floor).toBeGreaterThan(0.95)
      expect(mean / floor).toBeLessThan(1.02)
      expect(shown.equal / RUNS).toBeLessThan(0.06)
      expect(Math.abs(shown.apart / RUNS - 0.8)).toBeLessThan(0.03)
    },
  )

  it('bounds the floor of tasks with one episode, and says how many of the others flipped', () => {
    const tasks = (successes: number, finished: number, count: number) => Array(count).fill({ finished, successes })
    const once = estimateNoise([...tasks(1, 1, 50), ...tasks(0, 1, 50)])
    expect(once).toMatchObject({ repeated: 0, flipped: 0 })
    // Two rates of ½ over 100 tasks: 2.8 standard errors of √(2 · ¼ / 100).
    expect(once?.floor).toBeCloseTo(0.2, 2)
    expect(estimateNoise([...tasks(1, 2, 30), ...tasks(2, 2, 20), ...tasks(0, 1, 5)])).toMatchObject({
      repeated: 50,
      flipped: 30,
    })
    expect(estimateNoise([...tasks(2, 2, 20), ...tasks(0, 2, 20)])).toMatchObject({ flipped: 0, floor: null })
    expect(estimateNoise(tasks(1, 2, 1))).toBeNull()
  })
})
