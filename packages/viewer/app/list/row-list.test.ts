import { describe, expect, it } from 'vitest'
import { placeOf } from './row-list.ts'

describe('placeOf', () => {
  it('returns the rows before and after a row in the order of the list', () => {
    const list = { run: 'r', rows: Uint32Array.of(7, 0, 3), href: '#/r/r/episodes' }
    const common = { count: 3, href: '#/r/r/episodes' }
    expect(placeOf(list, 7)).toEqual({ ...common, index: 0, previous: null, next: 0 })
    expect(placeOf(list, 0)).toEqual({ ...common, index: 1, previous: 7, next: 3 })
    expect(placeOf(list, 3)).toEqual({ ...common, index: 2, previous: 0, next: null })
    expect(placeOf(list, 4)).toBeNull()
  })
})
