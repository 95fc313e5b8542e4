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
