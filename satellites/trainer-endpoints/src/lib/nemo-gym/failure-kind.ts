import { WireError, type WireErrorCode } from '@episodic/protocol'

/** Why an episode has no valid reward, as NeMo Gym names it. */
export interface Failure {
  /** A name of NeMo Gym's own vocabulary, or one of ours behind `episodic:`. */
  readonly kind: string
  /** For people. */
  readonly reason: string
}

/** Codes for which NeMo Gym has a name of its own. */
const KINDS: Partial<Record<WireErrorCode, string>> = {
  'session-not-found': 'session_lost',
  'state-lost': 'session_lost',
  fenced: 'session_lost',
  'store-unavailable': 'persistence_failed',
  capacity: 'provider_quota_exhausted',
}

/** Returns why an episode failed, for the error that its host threw. */
export function failureOf(error: unknown): Failure {
  if (!WireError.is(error)) return { kind: 'episodic:internal', reason: 'The server failed.' }
  return { kind: KINDS[error.code] ?? `episodic:${error.code.replaceAll('-', '_')}`, reason: error.message }
}
