import { CodedError } from '../base/coded-error.ts'
import type { JsonObject } from '../base/json.ts'

/**
 * Every error code that an endpoint may answer, with its JSON-RPC number.
 *
 * The list is closed: any other error reaches the caller as `internal` with a reference, and its text stays in the
 * server's log. Our own numbers are outside the range that JSON-RPC reserves.
 */
export const WIRE_ERROR_NUMBERS = {
  'parse-error': -32700,
  'invalid-request': -32600,
  'method-not-found': -32601,
  'invalid-params': -32602,
  internal: -32603,
  'header-mismatch': -32020,
  'unsupported-version': -32022,
  unauthorized: 1401,
  'unknown-environment': 1402,
  'session-not-found': 1404,
  'episode-ended': 1409,
  'seq-conflict': 1410,
  'seq-reused': 1411,
  fenced: 1412,
  'too-large': 1413,
  'state-lost': 1414,
  'replay-diverged': 1415,
  'outcome-unknown': 1416,
  'not-your-turn': 1417,
  'seat-taken': 1418,
  'not-recorded': 1419,
  capacity: 1429,
  'rate-limited': 1430,
  'environment-failed': 1500,
  'store-unavailable': 1503,
} as const

export type WireErrorCode = keyof typeof WIRE_ERROR_NUMBERS

/** An error that may cross the wire: its code, message and details are safe to show to the caller. */
export class WireError extends CodedError<WireErrorCode> {
  static override readonly brand: string = 'WireError'
}

/** Returns the error for parameters that a method does not take. */
export function invalidParams(message: string, options?: ErrorOptions & { details?: JsonObject }): WireError {
  return new WireError('invalid-params', message, options)
}

/** Returns the code of a JSON-RPC error number; `null` for an unknown number. */
export function findWireErrorCode(number: number): WireErrorCode | null {
  const codes = Object.keys(WIRE_ERROR_NUMBERS) as WireErrorCode[]
  return codes.find((code) => WIRE_ERROR_NUMBERS[code] === number) ?? null
}
