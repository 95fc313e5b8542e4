import type { Finding } from '../finding.ts'
import { formatPlace, type RehearsedEpisode, returnsOf } from '../rehearsed-episode.ts'

/** Most rounding error of a sum of a few rewards, relative to the largest. */
const ROUNDING = 1e-9

export function findWrongUtility(episode: RehearsedEpisode): Finding[] {
  const { environment, steps } = episode
  const { utility } = environment
  if (utility === 'general') return []
  for (const [at, step] of steps.entries()) {
    const returns = returnsOf(step)
    const values = Object.values(returns)
    const scale = Math.max(1, ...values.map(Math.abs))
    const sum = values.reduce((all, one) => all + one, 0)
    const spread = Math.max(...values) - Math.min(...values)
    if (Math.abs(utility === 'zero-sum' ? sum : spread) <= ROUNDING * scale) continue
    return [
      {
        name: 'utility-wrong',
        what: `The rewards of step ${at + 1} are ${JSON.stringify(returns)}, and \`utility\` is "${utility}".`,
        again: formatPlace(episode, at + 1),
        advice:
          utility === 'zero-sum'
            ? 'Let the rewards of each step add up to 0, or declare another utility.'
            : 'Give every seat the same reward in each step, or declare another utility.',
      },
    ]
  }
  return []
}
