import type { Reward } from '@episodic/protocol'
import { optionInvalid } from '../env-error.ts'
import { delegate, type Environment } from './environment.ts'

/**
 * Weighs the reward terms: `total` becomes Σ weight · term, plus the shaping. The terms themselves stay
 * raw. A term without a weight keeps weight 1.
 *
 * Throws `option-invalid` for an unknown term, and for a weight that is not finite.
 */
export function withWeights(environment: Environment, weights: Readonly<Record<string, number>>): Environment {
  const { terms } = environment.info
  for (const [name, weight] of Object.entries(weights)) {
    if (!terms.includes(name))
      throw optionInvalid(`${environment.info.name} has no reward term "${name}". It has: ${terms.join(', ')}.`)
    if (!Number.isFinite(weight)) throw optionInvalid(`The weight of "${name}" is ${weight}, and has to be finite.`)
  }
  const weigh = ({ terms: raw, shaping }: Reward): Reward => {
    let total = shaping
    for (const name in raw) total += (weights[name] ?? 1) * (raw[name] as number)
    return { total, terms: raw, shaping }
  }
  return delegate(
    environment,
    {
      async step(action, options) {
        const step = await environment.step(action, options)
        return { ...step, reward: weigh(step.reward) }
      },
    },
    (fork) => withWeights(fork, weights),
  )
}
