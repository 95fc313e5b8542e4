import type { EpisodeRecord } from '@episodic/protocol'

/**
 * The outcome that a report counts. A finished line without returns breaks the contract of a record: it counts as
 * failed, with the code `no-returns`, rather than as a zero.
 */
export function scoredOutcomeOf({ outcome, returns }: EpisodeRecord): EpisodeRecord['outcome'] {
  if (outcome.kind === 'failed' || returns) return outcome
  return {
    kind: 'failed',
    error: { code: 'no-returns', message: 'The episode was sealed as finished, but without returns.' },
  }
}

/** By which rule the success of an episode was judged. */
export type SuccessRule = 'world' | 'default'

/** The rule for an episode whose line has no success of its own, as its world defines none. */
const DEFAULT_RULE = 'terminated with a positive unshaped return'

/** The default rule of success: the world itself ended the episode, and paid for it. */
export function isDefaultSuccess(kind: 'terminated' | 'truncated', unshaped: number): boolean {
  return kind === 'terminated' && unshaped > 0
}

/** Whether a sealed episode succeeded: as its world judged it, or else by the default rule. A failed one did not. */
export function isSuccess({ outcome, returns }: Pick<EpisodeRecord, 'outcome' | 'returns'>): boolean {
  if (outcome.kind === 'failed' || !returns) return false
  return outcome.success ?? isDefaultSuccess(outcome.end.kind, returns.unshaped)
}

/** The rule that a sealed episode was judged by; `null` for a failed one. */
export function ruleOf({ outcome }: Pick<EpisodeRecord, 'outcome'>): SuccessRule | null {
  if (outcome.kind === 'failed') return null
  return outcome.success === undefined ? 'default' : 'world'
}

/** Says by which rules the successes of a report were judged. */
export function describeRules(rules: readonly SuccessRule[]): string {
  if (rules.length > 1) return `as defined by the world where it does so, and else ${DEFAULT_RULE}`
  return rules[0] === 'world' ? 'as defined by the world' : DEFAULT_RULE
}
