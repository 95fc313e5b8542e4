import { isAgentName, isLlm } from '../../worlds/policies.ts'
import { policyNames } from '../prepare-run.ts'
import type { SetMember } from './set-plan.ts'

/** The most that a member of a set can cost: an amount in the currency of its prices, or why it is not known. */
export type WorstCost = { readonly amount: number } | { readonly unknown: string }

/**
 * Returns what a member costs if every episode spends its token budget, at the highest of its prices. Not included
 * are what the last request of an episode goes over its budget, and episodes that are played again.
 */
export function worstCost({ prepared, configuration }: SetMember, episodes: number): WorstCost {
  const names = policyNames(configuration)
  if (names.some(isAgentName)) return { unknown: 'an agent asks its models itself' }
  const models = names.filter(isLlm)
  if (models.length === 0) return { amount: 0 }
  const { prices, tokenBudget } = prepared.settings
  if (!prices) return { unknown: 'without --prices' }
  if (tokenBudget === undefined) return { unknown: 'no bound without --token-budget' }
  const tokens = episodes * models.length * tokenBudget
  return { amount: (tokens * Math.max(prices.prompt, prices.completion, prices.cacheWrite ?? 0)) / 1_000_000 }
}
