import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { signerOf } from './session-tokens.ts'

describe('signerOf', () => {
  it("derives the same proofs with Node's own HMAC and without", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 80 }), fc.string({ unit: 'binary' }), (secret, text) => {
        fc.pre(text.isWellFormed())
        const proof = signerOf(secret)(text)
        expect(proof).toMatch(/^[\w-]{22}$/)
        expect(signerOf(secret, null)(text)).toBe(proof)
        expect(createHmac('sha256', secret).update(text).digest().subarray(0, 16).toString('base64url')).toBe(proof)
      }),
    )
  })
})
