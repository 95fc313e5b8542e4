import { describe, expect, it } from 'vitest'
import { calculate, roundToCents } from './calculate.ts'
import { ToolError } from './domain.ts'

describe('calculate', () => {
  // What Python 3.12 prints for `str(round(float(eval(expression)), 2))`.
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

  it.each([
    ['', 'invalid syntax (<string>, line 0)'],
    ['1 +', 'invalid syntax (<string>, line 1)'],
    ['(1', "'(' was never closed (<string>, line 1)"],
    ['1)', "unmatched ')' (<string>, line 1)"],
    ['(5 5)', 'invalid syntax. Perhaps you forgot a comma? (<string>, line 1)'],
    ['5 (3)', "'int' object is not callable"],
    ['1.2.3', 'invalid syntax (<string>, line 1)'],
    ['2 * * 3', 'invalid syntax (<string>, line 1)'],
    ['1e3', 'Invalid characters in expression'],
    ['1/0', 'division by zero'],
    ['1. // 0', 'float floor division by zero'],
    ['0 ** -1', '0.0 cannot be raised to a negative power'],
    ['(-8) ** 0.5', "float() argument must be a string or a real number, not 'complex'"],
    ['9 ** 9 ** 9', 'int too large to convert to float'],
    [`${'('.repeat(200)}1${')'.repeat(200)}`, 'too many nested parentheses (<string>, line 1)'],
  ])('throws for %s what Python says', (expression, message) => {
    expect(() => calculate(expression)).toThrow(new ToolError(message))
  })
})

describe('roundToCents', () => {
  it('takes the even one of two that are as near', () => {
    expect([0.125, 0.375, -0.125, 2.675, 1.005].map(roundToCents)).toEqual([0.12, 0.38, -0.12, 2.67, 1])
  })
})
