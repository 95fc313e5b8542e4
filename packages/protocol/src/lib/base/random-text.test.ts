import { describe, expect, it } from 'vitest'
import { drawSecret, randomText } from './random-text.ts'

describe('randomText', () => {
  it('has 32 hexadecimal digits, and never the same ones, however many are drawn', () => {
    const texts = Array.from({ length: 2_000 }, randomText)
    expect(texts.filter((text) => !/^[0-9a-f]{32}$/.test(text))).toEqual([])
    expect(new Set(texts).size).toBe(texts.length)
  })
})

describe('drawSecret', () => {
  it('returns bytes that later draws do not change', () => {
    const drawn = Array.from({ length: 600 }, drawSecret)
    const kept = drawn.map((bytes) => bytes.join())
    Array.from({ length: 600 }, drawSecret)
    expect(drawn.map((bytes) => bytes.join())).toEqual(kept)
    expect(new Set(kept).size).toBe(600)
    expect(drawn.every(({ length, buffer }) => length === 16 && buffer.byteLength === 16)).toBe(true)
  })
})
