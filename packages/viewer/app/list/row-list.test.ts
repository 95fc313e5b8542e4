import { describe, expect, it } from 'vitest'
import { findPlace } from './row-list.ts'

describe('findPlace', () => {
  it('returns the rows before and after a row in the order of the list', () => {
    const list = { run: 'r', rows: Uint32Array.of(7, 0, 3), href: '#/r/r/episodes' }
    const common = { count: 3, href: '#/r/r/episodes' }
    expect(findPlace(list, 7)).toEqual({ ...common, index: 0, previous: null, next: 0 })
    expect(findPlace(list, 0)).toEqual({ ...common, index: 1, previous: 7, next: 3 })
    expect(findPlace(list, 3)).toEqual({ ...common, index: 2, previous: 0, next: null })
    expect(findPlace(list, 4)).toBeNull()
  })
})
