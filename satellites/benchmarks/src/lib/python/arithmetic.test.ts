import { describe, expect, it } from 'vitest'
import { add, multiply, subtract, toInt } from './arithmetic.ts'
import { repr } from './repr.ts'
import { float } from './value.ts'

describe('add, subtract and multiply', () => {
  it('keep ints exact, and floats floats', () => {
    expect(repr(add(1, 2))).toBe('3')
    expect(repr(add(1, float(2)))).toBe('3.0')
    expect(repr(subtract(0.5, 0.5))).toBe('0.0')
    expect(repr(multiply(123456789123, 987654321987))).toBe('121932631355968601347401')
    expect(repr(subtract(toInt(10n ** 20n), toInt(10n ** 20n - 5n)))).toBe('5')
    expect(repr(add(0.1, 0.2))).toBe('0.30000000000000004')
  })
})
