import type { ModelOptions } from '@episodic/models/model-options'
import { isAgentName, isLlm, policyNames } from '@episodic/run/base/player-names'
import type { SetMember } from './set-plan.ts'

interface WorstCost {
  /** In the currency of its prices; `null` if it is not known. */
  readonly worstCost: number | null
  /** Why it is not known; `null` if it is. */
  readonly unknownCost: string | null
}

/**
 * Returns what a member costs if every episode spends its token budget, at the highest of its prices, or if it spends
 * all of the limits of the run alone: the least of these. Not included are requests that are on their way when a budget
 * or limit is reached, and episodes that are played again.
 */
export function worstCostOf({ run: { settings, configuration } }: SetMember, episodes: number): WorstCost {
  const names = policyNames(configuration)
  const agents = names.filter(isAgentName)
  if (agents.length > 0 && !settings.recordModels) return unknown('an agent asks its models itself')
  const models = names.filter(isLlm)
  if (models.length + agents.length === 0) return { worstCost: 0, unknownCost: null }
  const { tokenBudget, prices } = settings
  const bounds = [limitCost(settings)]
  // No budget holds for what an agent asks.
  if (tokenBudget !== undefined && agents.length === 0)
    bounds.push(costOf(episodes * models.length * tokenBudget, settings))
  const worstCost = Math.min(...bounds)
  if (Number.isFinite(worstCost)) return { worstCost, unknownCost: null }
  if (!prices) return unknown('without prices')
  const budget = agents.length > 0 ? '' : 'tokenBudget, '
  return unknown(`no bound without ${budget}--token-limit or --cost-limit`)
}

function unknown(unknownCost: string): WorstCost {
  return { worstCost: null, unknownCost }
}

/**
 * Returns what the members of a set cost at most together: what they cost each, and no more than the limits that they
 * share; `null` if it is not known.
 */
export function worstTotal(costs: readonly WorstCost[], members: readonly SetMember[]): number | null {
  const sum = costs.reduce((total, { worstCost }) => total + (worstCost ?? Number.NaN), 0)
  const shared = Math.max(...members.map(({ run }) => limitCost(run.settings)))
  return Number.isNaN(sum) ? null : Math.min(sum, shared)
}

type Limits = Pick<ModelOptions, 'costLimit' | 'tokenLimit' | 'prices'>

/** What the limits of a run let its models cost; infinite without any. */
function limitCost(limits: Limits): number {
  const { costLimit = Number.POSITIVE_INFINITY, tokenLimit = Number.POSITIVE_INFINITY } = limits
  return Math.min(costLimit, costOf(tokenLimit, limits))
}

function costOf(tokens: number, { prices }: Limits): number {
  if (!prices) return Number.POSITIVE_INFINITY
  return (tokens * Math.max(prices.prompt, prices.completion, prices.cacheWrite ?? 0)) / 1_000_000
}
