import { definePolicy } from '@episodic/env'
import { environment, narrow } from './environment.ts'

/** Binary search. Never needs more than {@link guessesNeeded} guesses, which is optimal. */
export const solver = definePolicy(environment, {
  name: 'binary-search',
  start({ task }) {
    const { low, high } = task.params
    let range = { from: low, to: high }
    return (_, { last }) => {
      const guess = last?.observation.structured
      if (guess) range = narrow(range.from, range.to, [guess as Parameters<typeof narrow>[2][number]])
      return { tool: 'guess', arguments: { value: Math.floor((range.from + range.to) / 2) } }
    }
  },
})

/**
 * How many guesses find any number from `low` to `high`: ⌈log₂(n + 1)⌉ for n numbers, since k guesses distinguish at
 * most 2ᵏ − 1 numbers (Knuth, The Art of Computer Programming, vol. 3, section 6.2.1).
 */
export function guessesNeeded(low: number, high: number): number {
  let guesses = 0
  // Halving instead of a logarithm: exact for every range.
  for (let left = high - low + 1; left > 0; left = Math.floor(left / 2)) guesses += 1
  return guesses
}
