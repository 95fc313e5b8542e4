import { describe, expect, it } from 'vitest'
import type { Channel } from './mcp.ts'
import { isTyped, markTyped } from './mcp.ts'

describe('markTyped', () => {
  it('marks a channel, and neither a copy of it nor a wrapper around it', () => {
    const channel: Channel = { request: async () => null, close: async () => {} }
    expect(isTyped(channel)).toBe(false)
    expect(markTyped(channel)).toBe(channel)
    expect([isTyped(channel), isTyped({ ...channel }), isTyped(Object.create(channel))]).toEqual([true, false, false])
  })
})
