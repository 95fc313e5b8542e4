import type { EpisodeRecord } from '@episodic/protocol'

/** The outcome that a report counts. A finished line without returns counts as failed (`no-returns`), not as 0. */
export function scoredOutcomeOf({
  outcome,
  returns,
}: Pick<EpisodeRecord, 'outcome' | 'returns'>): EpisodeRecord['outcome'] {
  if (outcome.kind === 'failed' || returns) return outcome
  return {
    kind: 'failed',
    error: { code: 'no-returns', message: 'The episode was sealed as finished, but without returns.' },
  }
}

/** How an episode ended, for readers. A truncated one that its world judges a success is `succeeded`. */
export type ShownOutcome = 'succeeded' | 'fell-short' | 'truncated' | 'failed'

export type SuccessRule = 'world' | 'default'

const DEFAULT_RULE = 'terminated with a positive unshaped return'

export function isDefaultSuccess(kind: 'terminated' | 'truncated', unshaped: number): boolean {
  return kind === 'terminated' && unshaped > 0
}

/** Whether a sealed episode succeeded, by its world's rule or the default one. A failed episode did not. */
export function isSuccess({ outcome, returns }: Pick<EpisodeRecord, 'outcome' | 'returns'>): boolean {
  if (outcome.kind === 'failed' || !returns) return false
  return outcome.success ?? isDefaultSuccess(outcome.end.kind, returns.unshaped)
}

export function ruleOf({ outcome }: Pick<EpisodeRecord, 'outcome'>): SuccessRule | null {
  if (outcome.kind === 'failed') return null
  return outcome.success === undefined ? 'default' : 'world'
}

export function formatRules(rules: readonly SuccessRule[]): string {
  if (rules.length > 1) return `as defined by the world, or by default ${DEFAULT_RULE}`
  return rules[0] === 'world' ? 'as defined by the world' : DEFAULT_RULE
}

export function groupOf(record: Pick<EpisodeRecord, 'outcome' | 'returns'>): ShownOutcome {
  const outcome = scoredOutcomeOf(record)
  if (outcome.kind === 'failed') return 'failed'
  if (isSuccess(record)) return 'succeeded'
  return outcome.end.kind === 'truncated' ? 'truncated' : 'fell-short'
}
