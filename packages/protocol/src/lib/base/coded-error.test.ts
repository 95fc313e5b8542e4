import { describe, expect, it, vi } from 'vitest'
import { WireError } from '../wire/wire-error.ts'
import { CodedError } from './coded-error.ts'

class ShopError extends CodedError<'sold-out' | 'closed'> {
  static override readonly brand: string = 'ShopError'
}

describe('CodedError', () => {
  it('is recognised by its brand, and by its code if one is given', () => {
    const error: unknown = new ShopError('closed', '')
    expect(ShopError.is(error)).toBe(true)
    expect(Object.keys(error as object).sort()).toEqual(['code', 'details', 'name'])
    expect(error).not.toHaveProperty('cause')
    expect(ShopError.is(error, 'closed')).toBe(true)
    expect(ShopError.is(error, 'sold-out')).toBe(false)
    expect(WireError.is(error)).toBe(false)
    for (const other of [null, 'closed', new Error('closed'), { code: 'closed', name: 'ShopError' }])
      expect(ShopError.is(other)).toBe(false)
  })

  it('is recognised by another copy of its package', async () => {
    const { WireError } = await import('../wire/wire-error.ts')
    vi.resetModules()
    const copy = await import('../wire/wire-error.ts')
    expect(copy.WireError).not.toBe(WireError)
    const error = new copy.WireError('fenced', '')
    expect(error).not.toBeInstanceOf(WireError)
    expect(WireError.is(error, 'fenced')).toBe(true)
  })
})
