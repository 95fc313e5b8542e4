import { describe, expect, it } from 'vitest'
import { findWireErrorCode, WIRE_ERROR_NUMBERS } from './wire-error.ts'

const entries = Object.entries(WIRE_ERROR_NUMBERS)

describe('WIRE_ERROR_NUMBERS', () => {
  it('gives each code a number of its own', () => {
    for (const [code, number] of entries) expect(findWireErrorCode(number)).toBe(code)
    expect(new Set(entries.map(([, number]) => number)).size).toBe(entries.length)
  })

  it('keeps own numbers out of the range that JSON-RPC reserves, and uses its own in their meaning', () => {
    const reserved = entries.filter(([, number]) => number >= -32_768 && number <= -32_000)
    expect(Object.fromEntries(reserved)).toEqual({
      'parse-error': -32700,
      'invalid-request': -32600,
      'method-not-found': -32601,
      'invalid-params': -32602,
      internal: -32603,
      'header-mismatch': -32020,
      'unsupported-version': -32022,
    })
  })
})

describe('findWireErrorCode', () => {
  it('gives null for a number that is not ours', () => {
    for (const number of [0, -32000, 404]) expect(findWireErrorCode(number)).toBeNull()
  })
})
