import { createRng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { knownRate } from './known-rate.ts'

const RUNS = 10_000
const ROUNDS = 16

const SITUATIONS: readonly (readonly [name: string, chances: readonly number[]])[] = [
  ['all tasks are alike', Array(50).fill(0.5)],
  ['tasks are easy and hard', Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? 0.95 : 0.1))],
  ['nearly everything is solved', Array(40).fill(0.97)],
  ['most tasks never vary', Array.from({ length: 90 }, (_, i) => [0, 1, 0.5][i % 3] as number)],
  ['few tasks', Array.from({ length: 10 }, (_, i) => 0.3 + 0.03 * i)],
]

function simulate(chances: readonly number[], name: string, look: (known: ReturnType<typeof knownRate>) => boolean) {
  const rng = createRng(name)
  for (let run = 0; run < RUNS; run++) {
    const tasks = chances.map(() => ({ finished: 0, successes: 0 }))
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, task] of tasks.entries()) {
        task.finished += 1
        task.successes += Number(rng.float() < (chances[i] as number))
      }
      if (look(knownRate(tasks, 300))) break
    }
  }
}

/** Errors of 5 %, power of 80 %. */
const [ERROR, POWER] = [1.96, 0.84]

describe('knownRate', () => {
  it.each(SITUATIONS)(
    '%s: the interval holds the rate after every one of 16 rounds in 95 %% of runs',
    (name, chances) => {
      const rate = chances.reduce((sum, chance) => sum + chance, 0) / chances.length
      let missed = 0
      simulate(chances, name, (known) => {
        const isOut = known !== null && Math.abs(known.rate - rate) > known.half
        missed += Number(isOut)
        return isOut
      })
      expect(missed / RUNS).toBeLessThanOrEqual(0.05)
    },
  )

  it('decides about a clear difference with fewer than 40 % of the episodes of a plan for a difference of 5 points', () => {
    const chances = Array.from({ length: 32 }, (_, i) => [0.7, 0.85, 0.95, 1][i % 4] as number)
    const limit = 0.75
    const spread = chances.reduce((sum, chance) => sum + chance * (1 - chance), 0) / chances.length
    const fixed = ((ERROR + POWER) / 0.05) ** 2 * spread
    let [looks, runs, wrong] = [0, 0, 0]
    simulate(chances, 'clear', (known) => {
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
