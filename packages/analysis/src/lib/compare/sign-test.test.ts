import { binomialDistribution } from 'simple-statistics'
import { describe, expect, it } from 'vitest'
import { signTest } from './sign-test.ts'

describe('signTest', () => {
  it('sums the tails of the binomial distribution', () => {
    for (let tosses = 1; tosses <= 30; tosses++) {
      const chances = binomialDistribution(tosses, 0.5)
      for (let up = 0; up <= tosses; up++) {
        const farther = (other: number) => Math.abs(other - tosses / 2) >= Math.abs(up - tosses / 2)
        // The other implementation omits probabilities below one in ten thousand.
        const expected = chances?.reduce((sum, chance, other) => sum + (farther(other) ? chance : 0), 0)
        expect(signTest(up, tosses - up)).toBeCloseTo(expected as number, 3)
      }
    }
  })

  it.each([
    [8, 0, 2 / 256],
    [7, 1, 18 / 256],
    [5, 5, 1],
    [0, 0, 1],
    // Agresti, "Categorical Data Analysis" (2002), table 10.1, whose approximate test gives z² = 17.36, p = 3.1e-5.
    [86, 150, 3.715_936e-5],
  ])('is exact for %i against %i', (up, down, p) => {
    expect(signTest(up, down)).toBeCloseTo(p, 8)
    expect(signTest(down, up)).toBe(signTest(up, down))
  })

  it('stays above 0 for thousands of tasks, and is below 1 for no even split', () => {
    expect(signTest(700, 1_300)).toBeGreaterThan(0)
    expect(signTest(700, 1_300)).toBeLessThan(1e-40)
    expect(signTest(5_000, 5_000)).toBe(1)
    expect(signTest(4_900, 5_100)).toBeCloseTo(0.0466, 3)
  })
})
