import { describe, expect, it } from 'vitest'
import { contentId, sha256Hex } from './digest.ts'

describe('sha256Hex', () => {
  // FIPS 180-4's own examples.
  const examples = [
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ] as const

  it.each(examples)('hashes %o', (text, hex) => {
    expect(sha256Hex(text)).toBe(hex)
  })

  it.each(examples)('hashes %o where the platform has no hash of its own', (text, hex) => {
    expect(sha256Hex(text, null)).toBe(hex)
  })

  it.each(['é 語 🎲', 'half a pair: \ud83c'])(
    'hashes the UTF-8 of %o, with and without a hash of the platform',
    async (text) => {
      const bytes = new TextEncoder().encode(text)
      const expected = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
      expect([sha256Hex(text), sha256Hex(text, null)]).toEqual([expected, expected])
    },
  )
})

describe('contentId', () => {
  it('is the first half of the hash, in hexadecimal', () => {
    expect(contentId('abc')).toBe('ba7816bf8f01cfea414140de5dae2223')
  })
})
