import { WireError, type WireErrorCode } from '@episodic/protocol'

export interface Failure {
  /** A name of NeMo Gym's own vocabulary, or one of ours behind `episodic:`. */
  readonly kind: string
  readonly reason: string
}

const KINDS: Partial<Record<WireErrorCode, string>> = {
  'session-not-found': 'session_lost',
  'state-lost': 'session_lost',
  fenced: 'session_lost',
  'store-unavailable': 'persistence_failed',
  capacity: 'provider_quota_exhausted',
}

export function failureOf(error: unknown): Failure {
  if (!WireError.is(error)) return { kind: 'episodic:internal', reason: 'The server failed.' }
  return { kind: KINDS[error.code] ?? `episodic:${error.code.replaceAll('-', '_')}`, reason: error.message }
}
