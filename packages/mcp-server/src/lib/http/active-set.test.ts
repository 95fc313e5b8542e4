import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ActiveSet } from './in-flight-calls.ts'

describe('ActiveSet', () => {
  it('has the items that entered and did not leave, in any order of moves', () => {
    const anyMoves = fc.array(fc.oneof(fc.constant('enter' as const), fc.nat()), { maxLength: 200 })
    fc.assert(
      fc.property(anyMoves, (moves) => {
        const active = new ActiveSet<number>()
        const there: { readonly name: number; readonly leave: () => void }[] = []
        for (const [name, move] of moves.entries()) {
          if (move === 'enter') there.push({ name, leave: active.enter(name) })
          else if (there.length > 0) there.splice(move % there.length, 1)[0]?.leave()
          expect([...active].sort()).toEqual(there.map(({ name }) => name).sort())
          expect(active.size).toBe(there.length)
        }
      }),
    )
  })
})
