import { DEFAULT_LIMITS } from '@episodic/protocol'
import { describe, expect, it, vi } from 'vitest'
import { KeptState } from './kept-state.ts'
import { isSamePart } from './view.ts'

const keep = (status: string) =>
  KeptState.of(
    {
      public: {
        orders: Object.fromEntries(Array.from({ length: 500 }, (_, id) => [`o${id}`, { id, status: 'open' }])),
      },
      private: { last: { status } },
    },
    DEFAULT_LIMITS,
  )

describe('isSamePart', () => {
  it('compares parts of large states by their pages, and others by their texts', () => {
    const [one, same, other] = ['open', 'open', 'closed'].map((status) => keep(status).state)
    const { orders } = keep('open').draft().public as { orders: Record<string, unknown> }
    delete orders.o7
    const write = vi.spyOn(JSON, 'stringify')
    expect(isSamePart(one?.public, other?.public)).toBe(true)
    expect(write).not.toHaveBeenCalled()
    write.mockRestore()
    expect(isSamePart(one?.private, same?.private)).toBe(true)
    expect(isSamePart(one?.private, other?.private)).toBe(false)
    expect(isSamePart(one?.public, one?.private)).toBe(false)
    expect(isSamePart(one?.public, { orders })).toBe(false)
    expect(isSamePart({ a: 1 }, { a: 1 })).toBe(true)
  })
})
