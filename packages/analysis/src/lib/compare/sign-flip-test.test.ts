import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { signFlipTest } from './sign-flip-test.ts'
import { signTest } from './sign-test.ts'

/**
 * Darwin's differences between crossed and self-fertilised plants, with which Fisher introduced the test (1935, section
 * 21).
 */
const DARWIN = [6.125, -8.375, 1, 2, 0.75, 2.875, 3.5, 5.125, 1.75, 3.625, 7, 3, 9.375, 7.5, -6]
const EIGHTEEN = [
  0.20123, 0.498746, -0.074138, -0.690592, -0.254671, -0.791647, 0.260144, 1.540215, -0.292207, -0.420475, 0.689842,
  0.556887, 0.305414, -0.730468, 0.170748, 0.895303, -1.144215, -0.257616,
]
const SIXTY = [
  -1.651223, -1.039538, -1.591735, 0.014909, -1.017446, 0.521264, 0.406751, 0.063069, -2.26676, -0.288693, 0.201499,
  0.363309, -1.280136, -0.227753, -0.728519, -0.558837, 1.310899, -0.557535, 0.217478, 1.13439, -0.3336, 0.138298,
  0.360464, 0.313782, -0.975056, 0.32614, 1.608823, -1.297145, 1.109383, 0.369354, -0.39147, 2.250417, 1.01226,
  -0.949289, 0.324516, 0.82669, 0.061218, 0.93291, 0.183483, 0.917248, 1.688523, -0.425662, 0.453139, -0.213308,
  0.377268, -0.937195, -0.329302, 0.053804, 1.148764, 1.395222, -1.073528, -0.544642, 0.896903, -1.74242, -0.21317,
  0.152713, 1.507015, 0.939404, -0.077213, -0.118576,
]

/** Counts every assignment of signs. */
function enumerated(differences: readonly number[]): number {
  const observed = Math.abs(differences.reduce((sum, value) => sum + value, 0))
  let farther = 0
  for (let bits = 0; bits < 2 ** differences.length; bits++) {
    const sum = differences.reduce((total, value, i) => total + ((bits >> i) & 1 ? value : -value), 0)
    if (Math.abs(sum) >= observed - 1e-9) farther += 1
  }
  return farther / 2 ** differences.length
}

describe('signFlipTest', () => {
  // From scipy 1.15 or later: permutation_test((d,), mean, permutation_type='samples', n_resamples=inf).
  it.each([
    ['five tasks in one direction', [-0.25, -0.5, -0.25, -0.25, -0.5], 0.0625],
    ['equal tasks beside them', [-0.25, -0.5, -0.25, -0.25, -0.5, ...new Array(10).fill(0)], 0.0625],
    ['shares of four attempts', [0.25, -0.75, -0.5, -0.25, -0.5, -1, -0.25, -0.5], 0.03125],
    ['returns', [0.31, -0.12, 0.57, 0.44, -0.05, 0.93, 0.21, -0.38, 0.66, 0.1], 0.064_453_125],
    ['steps, one against eight', [1, -1, -2, -3, -1, -2, -4, -2, -1.5, 0, 0], 0.015_625],
    ['Darwin’s plants', DARWIN, 0.052_673_339_843_75],
    ['eighteen unlike differences', EIGHTEEN, 0.874_023_437_5],
  ])('agrees with scipy: %s', (_, differences, p) => {
    expect(signFlipTest(differences)).toMatchObject({ p: expect.closeTo(p, 12), exact: true })
  })

  it('draws signs where they are too many to count, and comes near scipy’s million draws', () => {
    const { p, exact, smallest } = signFlipTest(SIXTY)
    expect([exact, smallest]).toEqual([false, 1 / 20_000])
    // Four standard errors of 19,999 draws.
    expect(Math.abs(p - 0.705)).toBeLessThan(0.013)
    expect(signFlipTest(SIXTY.toReversed()).p).toBe(p)
  })

  it('counts every assignment of signs, also of equal and of rounded differences', () => {
    const difference = fc.oneof(
      fc.integer({ min: -4, max: 4 }).map((quarters) => quarters / 4),
      fc.integer({ min: -1e6, max: 1e6 }).map((millionths) => millionths / 1e6),
    )
    fc.assert(
      fc.property(fc.array(difference, { maxLength: 11 }), (differences) => {
        const p = enumerated(differences)
        expect(signFlipTest(differences).p).toBeCloseTo(p, 9)
        expect(signFlipTest(differences.map((value) => -value)).p).toBeCloseTo(p, 9)
      }),
      { seed: 1, numRuns: 200 },
    )
    // 0.1 + 0.2 is not 0.3.
    expect(signFlipTest([0.1, 0.2, -0.3]).p).toBe(1)
  })

  it('is the sign test if all differences have one size, and stays exact for thousands of them', () => {
    for (const [up, down] of [
      [8, 0],
      [7, 1],
      [700, 900],
      [900, 0],
    ] as const) {
      const differences = [...new Array(up).fill(0.25), ...new Array(down).fill(-0.25)]
      const { p, exact } = signFlipTest(differences)
      expect(exact).toBe(true)
      expect(p / signTest(up, down)).toBeCloseTo(1, 6)
    }
  })

  it('says the smallest p-value that is possible, and is 1 without a difference', () => {
    expect(signFlipTest([1, 2, 3, 4, 5]).smallest).toBe(1 / 16)
    expect(signFlipTest([1, -2, 0, 0])).toMatchObject({ smallest: 1 / 2 })
    expect(signFlipTest([])).toEqual({ p: 1, smallest: 1, exact: true })
    expect(signFlipTest([0, 0])).toMatchObject({ p: 1 })
  })
})
