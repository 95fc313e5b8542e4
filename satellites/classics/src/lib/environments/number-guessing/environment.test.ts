import { rehearse } from '@episodic/mcp-server'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { environment } from '../number-guessing.ts'

/** A world, and guesses that may miss its range or come after its end. */
const anyPlay = fc.record({
  params: fc
    .record({ low: fc.integer({ min: -50, max: 50 }), width: fc.integer({ min: 1, max: 40 }), maxGuesses: fc.nat(9) })
    .map(({ low, width, maxGuesses }) => ({ low, high: low + width - 1, maxGuesses: maxGuesses + 1 })),
  seed: fc.string(),
  guesses: fc.array(fc.integer({ min: -55, max: 95 }), { minLength: 1, maxLength: 20 }),
})

describe('number-guessing', () => {
  it('returns correct hints', () => {
    fc.assert(
      fc.property(anyPlay, ({ params, seed, guesses }) => {
        const world = rehearse(environment, { params, seed })
        const target = targetOf(world.state)
        expect(target).toBeGreaterThanOrEqual(params.low)
        expect(target).toBeLessThanOrEqual(params.high)
        for (const value of guesses) {
          if (world.end) break
          const { observation, refused } = world.play('guess', { value })
          const hint = value === target ? 'correct' : value < target ? 'higher' : 'lower'
          if (refused) expect(observation.text).toContain('is out of range')
          else expect(observation.structured).toEqual({ value, hint })
        }
        expect(targetOf(world.state)).toBe(target)
      }),
    )
  })

  it('ends when the number is found or the guesses are used up, and not before', () => {
    fc.assert(
      fc.property(anyPlay, ({ params, seed, guesses }) => {
        const world = rehearse(environment, { params, seed })
        const target = targetOf(world.state)
        let left = params.maxGuesses
        for (const value of guesses) {
          const { end, terms } = world.play('guess', { value })
          if (value >= params.low && value <= params.high) left -= 1
          const reason = value === target ? 'solved' : left === 0 ? 'out-of-guesses' : null
          expect(end).toEqual(reason && { kind: 'terminated', reason })
          expect(terms).toEqual({ solved: reason === 'solved' ? 1 : 0, cost: -0.01 })
          if (end) break
        }
      }),
    )
  })

  it('has a potential from 0 to 1 that never decreases', () => {
    fc.assert(
      fc.property(anyPlay, ({ params, seed, guesses }) => {
        const world = rehearse(environment, { params, seed })
        let before = world.start.potential as number
        expect(before).toBe(params.low === params.high ? 1 : 0)
        for (const value of guesses) {
          if (world.end) break
          const after = world.play('guess', { value }).potential as number
          expect(after).toBeGreaterThanOrEqual(before)
          expect(after).toBeLessThanOrEqual(1)
          before = after
        }
      }),
    )
  })

  it('reveals nothing about the hidden number but its hints', () => {
    fc.assert(
      fc.property(anyPlay, fc.string(), ({ params, seed, guesses }, otherSeed) => {
        const world = rehearse(environment, { params, seed })
        const other = rehearse(environment, { params, seed: otherSeed })
        expect(other.start.observation).toEqual(world.start.observation)
        for (const value of guesses) {
          if (world.end || other.end) break
          const [played, otherPlayed] = [world.play('guess', { value }), other.play('guess', { value })]
          // After different hints, the rest may differ.
          if (played.observation.structured?.hint !== otherPlayed.observation.structured?.hint) break
          expect(otherPlayed.observation).toEqual(played.observation)
        }
      }),
    )
  })

  it('hides a number that depends on the seed', () => {
    const seeds = Array.from({ length: 200 }, (_, i) => `seed-${i}`)
    const targets = seeds.map((seed) => targetOf(rehearse(environment, { params: { high: 4 }, seed }).state))
    expect(new Set(targets)).toEqual(new Set([1, 2, 3, 4]))
  })
})

function targetOf(state: { readonly private: object }): number {
  return (state.private as { target: number }).target
}
