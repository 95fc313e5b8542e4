import { toInternalError } from '@episodic/mcp-server/internal'
import { WireError, type WireErrorCode } from '@episodic/protocol'
import { RequestProblem } from './request-problem.ts'

export interface Problem {
  readonly status: number
  readonly code: WireErrorCode | 'unauthenticated' | 'not-found' | 'unavailable'
  readonly message: string
}

/** An internal error, as it is reported to the operator. The client receives only its reference. */
export interface InternalError {
  readonly reference: string
  readonly cause: unknown
}

const STATUS: Partial<Record<WireErrorCode, number>> = {
  'parse-error': 400,
  'invalid-request': 400,
  'method-not-found': 404,
  'unknown-environment': 404,
  'session-not-found': 404,
  unauthorized: 403,
  'episode-ended': 409,
  'seq-conflict': 409,
  'seq-reused': 409,
  fenced: 409,
  'state-lost': 410,
  'not-recorded': 410,
  'too-large': 413,
  'invalid-params': 422,
  'rate-limited': 429,
  capacity: 503,
  'store-unavailable': 503,
}

/** Returns the problem of what was thrown. Anything but a `WireError` is reported, and named only by a reference. */
export function problemOf(error: unknown, onError: (error: InternalError) => void): Problem {
  if (RequestProblem.is(error)) return error
  // The message of an error of ours names its reference too.
  const { code, message } = WireError.is(error) ? error : toInternalError(error, onError)
  return { status: STATUS[code] ?? 500, code, message }
}
