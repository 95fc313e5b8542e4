import { EnvError, optionInvalid } from '../env-error.ts'
import { delegate, type Environment, type ResetResult } from './environment.ts'

/**
 * Adds potential-based shaping to every reward: F = γΦ(s′) − Φ(s), with Φ = 0 at a terminated end.
 *
 * Shaping of this form changes how fast a policy is learned and not which policy is best (Ng, Harada & Russell,
 * "Policy invariance under reward transformations", ICML 1999). Over a terminated episode with γ = 1 it sums to
 * minus the starting potential. A truncated end keeps its Φ, because a learner bootstraps from it.
 *
 * Throws `option-invalid` if the environment has no potential, or the discount is not from 0 to 1.
 */
export function withShaping(
  environment: Environment,
  { discount = 1 }: { readonly discount?: number } = {},
): Environment {
  if (!environment.info.potential)
    throw optionInvalid(`${environment.info.name} defines no potential, so its rewards cannot be shaped.`)
  if (!(discount >= 0 && discount <= 1)) throw optionInvalid(`The discount is ${discount}, and has to be from 0 to 1.`)
  return shape(environment, discount, 0)
}

function shape(environment: Environment, discount: number, before: number): Environment {
  const begin = async (begun: Promise<ResetResult>): Promise<ResetResult> => {
    const start = await begun
    before = potentialOf(start.info.potential)
    return start
  }
  return delegate(
    environment,
    {
      reset: (task, options) => begin(environment.reset(task, options)),
      restore: (snapshot, options) => begin(environment.restore(snapshot, options)),
      async step(action, options) {
        const step = await environment.step(action, options)
        const after = step.end?.kind === 'terminated' ? 0 : potentialOf(step.info.potential)
        const shaping = discount * after - before
        before = after
        return {
          ...step,
          reward: { ...step.reward, total: step.reward.total + shaping, shaping: step.reward.shaping + shaping },
        }
      },
    },
    (fork) => shape(fork, discount, potentialOf(fork.start.info.potential)),
  )
}

function potentialOf(potential: number | null): number {
  if (potential === null) throw new EnvError('reply-malformed', 'The server announced a potential and sent none.')
  return potential
}
