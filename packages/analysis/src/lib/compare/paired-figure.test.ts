import { createRng } from '@episodic/protocol'
import fc from 'fast-check'
import { sampleStandardDeviation, tTest } from 'simple-statistics'
import { describe, expect, it } from 'vitest'
import { pairFigure } from './paired-figure.ts'
import { signFlipTest } from './sign-flip-test.ts'

describe('pairFigure', () => {
  it('takes means that differ by rounding for equal', () => {
    const three = (0.7 + 0.7 + 0.7) / 3
    expect(three).not.toBe(0.7)
    expect(
      pairFigure([
        [0.7, three],
        [0.7, three],
      ]),
    ).toMatchObject({ equal: 2, effect: 'same', difference: { mean: 0 } })
  })

  it('has the interval of the paired t-test, and leaves the effect to the sign-flip test', () => {
    const value = fc.integer({ min: -20, max: 20 })
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { minLength: 10, maxLength: 10 }), (pairs) => {
        const differences = pairs.map(([a, b]) => b - a)
        fc.pre(sampleStandardDeviation(differences) > 0)
        // The other implementation estimates the spread with n, and Student with n − 1.
        const t = tTest(differences, 0) * Math.sqrt(9 / 10)
        const figure = pairFigure(pairs)
        const { mean, low, standardError } = figure?.difference ?? { mean: 0, low: 0, standardError: 0 }
        // 9 degrees of freedom.
        expect(low).toBeCloseTo(mean * (1 - 2.262157 / t) || mean - 2.262157 * (standardError ?? 0), 4)
        expect(standardError).toBeCloseTo(sampleStandardDeviation(differences) / Math.sqrt(10), 9)
        expect((figure?.b ?? 0) - (figure?.a ?? 0)).toBeCloseTo(mean, 9)
        const { p } = signFlipTest(differences)
        expect(figure).toMatchObject({ p, effect: p >= 0.05 ? 'unclear' : mean > 0 ? 'higher' : 'lower' })
      }),
      { seed: 1 },
    )
  })

  it('says the smallest difference and the smallest p-value that the tasks allow', () => {
    // Five of fifteen tasks differ, in one direction: the interval excludes 0, and p cannot be below 0.0625.
    const few = pairFigure([[1, 0.5], [1, 0.75], [0.75, 0.5], [0.5, 0.25], [1, 0.5], ...new Array(10).fill([1, 1])])
    expect(few).toMatchObject({ effect: 'unclear', p: 0.0625, smallestP: 0.0625, signP: 0.0625 })
    expect(few?.difference.high).toBeLessThan(0)
    // 14 degrees of freedom: the 97.5 % point is 2.144787, and the 80 % point 0.868055 (scipy.stats.t.ppf).
    expect(few?.detectable).toBeCloseTo((2.144787 + 0.868055) * (few?.difference.standardError as number), 6)
    expect(pairFigure([[0, 1]])?.detectable).toBeNull()
  })

  it('changes its sign if the runs are swapped', () => {
    const value = fc.integer({ min: -5, max: 5 })
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { minLength: 1 }), (pairs) => {
        const [figure, turned] = [pairFigure(pairs), pairFigure(pairs.map(([a, b]) => [b, a] as const))]
        expect(turned?.difference.mean).toBeCloseTo(-(figure?.difference.mean as number), 9)
        expect([turned?.higher, turned?.lower, turned?.p]).toEqual([figure?.lower, figure?.higher, figure?.p])
        const opposite = { higher: 'lower', lower: 'higher', same: 'same', unclear: 'unclear' } as const
        expect(turned?.effect).toBe(figure && opposite[figure.effect])
      }),
    )
  })

  it('handles no task, one task, no difference and the same difference everywhere', () => {
    expect(pairFigure([])).toBeNull()
    expect(pairFigure([[0, 1]])).toMatchObject({ effect: 'unclear', p: 1, difference: { low: null, high: null } })
    expect(pairFigure(new Array(9).fill([1, 1]))).toMatchObject({ effect: 'same', p: 1, difference: { low: null } })
    // Two tasks that both improve may be chance; nine may not.
    expect(pairFigure(new Array(2).fill([0, 1]))).toMatchObject({ effect: 'unclear', p: 0.5 })
    expect(pairFigure(new Array(9).fill([0, 1]))).toMatchObject({
      effect: 'higher',
      p: 2 / 512,
      difference: { low: null },
    })
  })

  it('clamps intervals of shares to their bounds', () => {
    const figure = pairFigure([...new Array(9).fill([0, 1]), [1, 1]], [-1, 1])
    expect(figure?.difference.high).toBe(1)
  })

  it('finds a difference between equal players in at most 6 of 100 simulated pairs of runs', () => {
    const rng = createRng('equal players')
    let called = 0
    for (let set = 0; set < 2_000; set++) {
      const pairs = Array.from({ length: 40 }, () => {
        const chance = rng.float()
        const solved = () => [1, 2, 3].reduce((sum) => sum + Number(rng.chance(chance)), 0) / 3
        return [solved(), solved()] as const
      })
      if (pairFigure(pairs, [-1, 1])?.effect !== 'unclear') called += 1
    }
    expect(called / 2_000).toBeLessThanOrEqual(0.06)
    expect(called / 2_000).toBeGreaterThanOrEqual(0.03)
  })
})
