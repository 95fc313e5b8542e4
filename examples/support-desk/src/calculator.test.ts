import { describe, expect, it } from 'vitest'
import { CalculatorError, calculate, roundToCents } from './calculator.ts'

describe('calculate', () => {
  // What Python 3.11 prints for `str(round(float(eval(expression)), 2))`.
  it.each([
    ['3131.1 + 4777.75 + 367.38', '8276.23'],
    ['2 * (3 + 4.5)', '15.0'],
    ['1/8', '0.12'],
    ['3/8', '0.38'],
    ['-2 ** 2', '-4.0'],
    ['2 ** -1', '0.5'],
    ['2 ** 3 ** 2', '512.0'],
    ['7 // -2', '-4.0'],
    ['-7.5 // 2', '-4.0'],
    ['5--+-3', '2.0'],
    ['.5 + 1.', '1.5'],
    ['-0.001', '-0.0'],
    ['10 ** 16', '1e+16'],
    ['18892833483294628142/11', '1.717530316663148e+18'],
    ['0/ -3', '-0.0'],
  ])('returns for %s what Python does', (expression, result) => {
    expect(calculate(expression)).toBe(result)
  })

  it.each(['', '1 +', '(1', '1)', '5 5', '5(3)', '()', '1.2.3', '01', '* 2', '2 * * 3', 'x', '1e3', '\t1'])(
    'refuses %s, which is no expression',
    (expression) => {
      expect(() => calculate(expression)).toThrow(CalculatorError)
    },
  )

  it.each(['1/0', '1 // 0', '0 ** -1', '(-8) ** 0.5', '9 ** 9 ** 9', `${'('.repeat(200)}1${')'.repeat(200)}`])(
    'refuses %s, which has no result',
    (expression) => {
      expect(() => calculate(expression)).toThrow(CalculatorError)
    },
  )
})

describe('roundToCents', () => {
  it('takes the even one of two that are as near', () => {
    expect([0.125, 0.375, -0.125, 2.675, 1.005].map(roundToCents)).toEqual([0.12, 0.38, -0.12, 2.67, 1])
  })
})
