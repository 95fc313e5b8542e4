import { describe, expect, it } from 'vitest'
import { SEEDS, TUNING_SEEDS } from './hyperparameters.ts'

describe('SEEDS', () => {
  it('has none of the seeds that the hyperparameters were chosen with', () => {
    expect(SEEDS.filter((seed) => (TUNING_SEEDS as readonly string[]).includes(seed))).toEqual([])
    expect(new Set(SEEDS).size).toBe(5)
  })
})
