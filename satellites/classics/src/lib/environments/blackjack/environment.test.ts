import { rehearse } from '@episodic/mcp-server'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { environment } from '../blackjack.ts'

describe('blackjack', () => {
  it('ends over 21, or when the player sticks, and pays the result', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), (seed, hits) => {
        const world = rehearse(environment, { seed, strict: true })
        for (const hit of hits) {
          if (world.end) break
          const { end, terms, observation } = world.play('play', { move: hit ? 'hit' : 'stick' })
          const { sum } = world.state.public as { sum: number }
          expect(end === null).toBe(hit && sum <= 21)
          if (hit && end) expect(end.reason).toBe('bust')
          expect(terms.result).toBe({ won: 1, lost: -1, bust: -1, drawn: 0 }[end?.reason ?? 'drawn'])
          if (!end) expect(observation.text).toContain(`sum up to ${sum}`)
        }
      }),
    )
  })

  it('shows the second card of the dealer to nobody who has not stuck', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 10 }), (seed, hole) => {
        const world = rehearse(environment, { seed })
        const other = rehearse(environment, { seed, privateState: { hole } })
        expect(other.play('play', { move: 'hit' }).observation).toEqual(world.play('play', { move: 'hit' }).observation)
      }),
    )
  })
})
