import { describe, expect, it, vi } from 'vitest'
import { WireError } from '../wire/wire-error.ts'
import { CodedError } from './coded-error.ts'

class ShopError extends CodedError<'sold-out' | 'closed'> {
  static override readonly brand: string = 'ShopError'
}

describe('CodedError', () => {
  it('has a name, a code, a message, details and the cause', () => {
    const cause = new Error('it rains')
    const error = new ShopError('closed', 'Closed. Come again.', { cause, details: { until: 9 } })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'ShopError', code: 'closed', message: 'Closed. Come again.', cause })
    expect(error.details).toEqual({ until: 9 })
    expect(new ShopError('closed', '').details).toEqual({})
    expect('cause' in new ShopError('closed', '')).toBe(false)
  })

  it('is recognised by its brand, and by its code if one is given', () => {
    const error: unknown = new ShopError('closed', '')
    expect(ShopError.is(error)).toBe(true)
    expect(ShopError.is(error, 'closed')).toBe(true)
    expect(ShopError.is(error, 'sold-out')).toBe(false)
    expect(WireError.is(error)).toBe(false)
    for (const other of [null, 'closed', new Error('closed'), { code: 'closed', name: 'ShopError' }])
      expect(ShopError.is(other)).toBe(false)
  })

  it('keeps the brand out of what is printed or serialised', () => {
    expect(Object.keys(new ShopError('closed', '')).sort()).toEqual(['code', 'details', 'name'])
  })

  it('is recognised by another copy of its package', async () => {
    const { WireError } = await import('../wire/wire-error.ts')
    vi.resetModules()
    const copy = await import('../wire/wire-error.ts')
    expect(copy.WireError).not.toBe(WireError)
    const error = new copy.WireError('fenced', '')
    expect(error).not.toBeInstanceOf(WireError)
    expect(WireError.is(error, 'fenced')).toBe(true)
    expect(WireError.is(error, 'internal')).toBe(false)
  })
})
