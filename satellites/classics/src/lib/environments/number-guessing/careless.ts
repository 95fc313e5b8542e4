import { definePolicy } from '@episodic/env'
import { createRng } from '@episodic/protocol'
import { environment, narrow } from '../number-guessing.ts'

/** Probability of a random guess within the range. */
const CARELESSNESS = 0.6

/** Follows the hints but halves the range only sometimes: a stochastic policy between random play and the solver. */
const careless = definePolicy(environment, {
  name: 'careless',
  start({ task, seed }) {
    const { low, high } = task.params
    const rng = createRng(seed).stream('careless')
    let range = { from: low, to: high }
    return (_, { last }) => {
      const guess = last?.observation.structured
      if (guess) range = narrow(range.from, range.to, [guess as Parameters<typeof narrow>[2][number]])
      const middle = Math.floor((range.from + range.to) / 2)
      return {
        tool: 'guess',
        arguments: { value: rng.chance(CARELESSNESS) ? rng.int(range.from, range.to) : middle },
      }
    }
  },
})

/** Further policies, by the name that `--policy` takes. */
export const policies = { careless }
