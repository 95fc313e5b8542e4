import { definePolicy } from '@episodic/env'
import { narrow } from './environment.ts'

/** Halves what is left with every guess. Optimal: ⌈log₂(high − low + 2)⌉ guesses at the most, less one. */
export const solver = definePolicy({
  name: 'binary-search',
  begin({ task }) {
    const { low, high } = task.params as { low: number; high: number }
    let range = { from: low, to: high }
    return (_, { last }) => {
      const guess = last?.observation.structured
      if (guess) range = narrow(range.from, range.to, [guess as Parameters<typeof narrow>[2][number]])
      return { tool: 'guess', arguments: { value: Math.floor((range.from + range.to) / 2) } }
    }
  },
})
