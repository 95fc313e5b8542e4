import { describe, expect, it } from 'vitest'
import { linePath, signedBars, stackedBars, usualValue } from './step-bars.ts'

describe('stackedBars', () => {
  it('stacks series up to the largest sum', () => {
    const { paths, most } = stackedBars([
      [1, 0],
      [3, 2],
    ])
    expect(most).toBe(4)
    expect(paths).toEqual(['M0.12 0.75H0.88V1H0.12Z', 'M0.12 0H0.88V0.75H0.12ZM1.12 0.5H1.88V1H1.12Z'])
  })

  it('draws nothing where nothing was measured', () => {
    expect(stackedBars([[0, 0]])).toEqual({ paths: [''], most: 0 })
  })
})

describe('signedBars', () => {
  it('places gains above zero and losses below', () => {
    expect(signedBars([3, -1, 0], null)).toEqual({
      gains: 'M0.12 0H0.88V0.75H0.12Z',
      losses: 'M1.12 0.75H1.88V1H1.12Z',
      usual: '',
      zero: 0.75,
      low: -1,
      high: 3,
    })
  })
})

describe('usualValue', () => {
  it('is the value of at least half of the steps', () => {
    expect(usualValue([-0.01, -0.01, -0.5, -0.01, 1])).toBe(-0.01)
    expect(signedBars([-1, -1, 1, -1], usualValue([-1, -1, 1, -1]))).toMatchObject({
      losses: '',
      usual: expect.stringMatching(/^M0/),
    })
    for (const values of [[], [1], [1, 2], [1, 2, 3, 1, 2]]) expect(usualValue(values)).toBeNull()
  })
})

describe('linePath', () => {
  it('breaks where there is no value', () => {
    expect(linePath([0, 2, null, 1])).toEqual({ path: 'M0.5 1L1.5 0M3.5 0.5', low: 0, high: 2 })
    expect(linePath([null])).toEqual({ path: '', low: 0, high: 0 })
  })
})
