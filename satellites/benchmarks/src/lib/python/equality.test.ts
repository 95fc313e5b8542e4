import { describe, expect, it } from 'vitest'
import { isEqual } from './equality.ts'
import { float } from './value.ts'

describe('isEqual', () => {
  it('is true as == of Python is', () => {
    expect(isEqual(1, float(1))).toBe(true)
    expect(isEqual(true, 1)).toBe(true)
    expect(isEqual({ $int: '100000000000000000000' }, float(1e20))).toBe(true)
    expect(isEqual({ a: 1, b: [float(2)] }, { b: [2], a: float(1) })).toBe(true)
    expect(isEqual({ $dict: [[1, 'a']] }, { $dict: [[float(1), 'a']] })).toBe(true)
    expect(isEqual({ $tuple: [1] }, { $tuple: [1] })).toBe(true)
  })

  it('is false as == of Python is', () => {
    expect(isEqual(1, '1')).toBe(false)
    expect(isEqual({ $dict: [[1, 'a']] }, { $dict: [['1', 'a']] })).toBe(false)
    expect(isEqual([1, 2], [2, 1])).toBe(false)
    expect(isEqual({ $tuple: [1] }, [1])).toBe(false)
    expect(isEqual({ a: 1 }, { a: 1, b: 1 })).toBe(false)
    expect(isEqual(null, 0)).toBe(false)
  })
})
