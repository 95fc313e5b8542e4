import { NORMAL_POINTS, studentPoint } from '@episodic/protocol/internal'
import { cumulativeStdNormalProbability } from 'simple-statistics'
import { describe, expect, it } from 'vitest'

describe('studentPoint', () => {
  it.each([
    [1, 12.706],
    [2, 4.303],
    [3, 3.182],
    [4, 2.776],
    [5, 2.571],
    [9, 2.262],
    [10, 2.228],
    [29, 2.045],
    [30, 2.042],
    [60, 2.0],
    [120, 1.98],
    [1_000, 1.962],
  ])('agrees with the printed tables for %i degrees of freedom', (degrees, point) => {
    expect(studentPoint(degrees)).toBeCloseTo(point, 3)
  })

  it.each([
    [1, 636.619],
    [2, 31.599],
    [10, 4.587],
    [30, 3.646],
    [60, 3.46],
    [120, 3.373],
    [1_000, 3.3],
    [1e9, 3.291],
  ])('agrees with the printed tables of 99.9 % for %i degrees of freedom', (degrees, point) => {
    expect(studentPoint(degrees, 0.999)).toBeCloseTo(point, 3)
  })

  it('equals the closed forms for 1, 2 and 4 degrees', () => {
    // Shaw, "Sampling Student's T distribution" (2006), section 3.
    expect(studentPoint(1)).toBeCloseTo(Math.tan(0.475 * Math.PI), 9)
    expect(studentPoint(2)).toBeCloseTo(0.95 / Math.sqrt(2 * 0.975 * 0.025), 9)
    const root = Math.sqrt(4 * 0.975 * 0.025)
    expect(studentPoint(4)).toBeCloseTo(2 * Math.sqrt(Math.cos(Math.acos(root) / 3) / root - 1), 9)
  })

  it.each<keyof typeof NORMAL_POINTS>([0.95, 0.999])(
    'decreases continuously to the normal point of %d',
    (confidence) => {
      const point = (degrees: number) => studentPoint(degrees, confidence)
      for (let degrees = 1; degrees < 400; degrees++) expect(point(degrees + 1)).toBeLessThan(point(degrees))
      const step = (degrees: number) => point(degrees) - point(degrees + 1)
      expect(step(100) / step(99)).toBeCloseTo(1, 1)
      expect(point(1e9)).toBeCloseTo(NORMAL_POINTS[confidence], 7)
    },
  )

  it('has the normal point of 95 % of other programs', () => {
    expect(cumulativeStdNormalProbability(NORMAL_POINTS[0.95])).toBeCloseTo(0.975, 3)
  })

  it.each([0, -1, 1.5, Number.NaN])('throws for %d degrees', (degrees) => {
    expect(() => studentPoint(degrees)).toThrow(RangeError)
  })
})
