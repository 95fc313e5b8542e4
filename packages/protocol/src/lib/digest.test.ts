import { describe, expect, it } from 'vitest'
import { contentId, sha256Of } from './digest.ts'

describe('sha256Of', () => {
  // FIPS 180-4's own examples.
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ])('hashes %o', (text, hex) => {
    expect(Buffer.from(sha256Of(text)).toString('hex')).toBe(hex)
  })

  it('hashes the UTF-8 of a text', async () => {
    const bytes = new TextEncoder().encode('é 語 🎲')
    const expected = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
    expect(sha256Of('é 語 🎲')).toEqual(expected)
  })
})

describe('contentId', () => {
  it('is the first half of the hash, in hexadecimal', () => {
    expect(contentId('abc')).toBe('ba7816bf8f01cfea414140de5dae2223')
  })
})
