import type { WireErrorCode } from '@episodic/protocol'
import { MODERN_VERSION } from '@episodic/protocol/extend'
import { isModern } from '../dispatch/protocol-version.ts'
import { PROTOCOL_VERSIONS } from '../dispatch/sdk-discovery.ts'
import type { Caller } from '../host/caller.ts'
import type { HttpRequest } from './fast-path/request.ts'
import type { Denial } from './host-origin-check.ts'

/** Checks what Streamable HTTP requires of every POST. */
export function checkPost({ headers }: HttpRequest): Denial | null {
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    return { status: 415, message: 'Send JSON: Content-Type: application/json.' }
  if (!/application\/json|application\/\*|\*\/\*/i.test(headers.accept ?? '*/*'))
    return { status: 406, message: 'Answers are JSON: Accept has to include application/json.' }
  return null
}

/** Whether a client accepts an event stream. */
export function takesEvents({ headers }: HttpRequest): boolean {
  return /text\/event-stream|\*\/\*/i.test(headers.accept ?? '')
}

/** Checks the version of a request after `initialize`. Requests of the stateless version have their own checks. */
export function checkVersion({ headers }: HttpRequest): Denial | null {
  const version = headers['mcp-protocol-version']
  return version === undefined || PROTOCOL_VERSIONS.includes(version as string) || isModern(version as string)
    ? null
    : {
        status: 400,
        message: `This protocol version is not spoken here. Spoken are: ${[MODERN_VERSION, ...PROTOCOL_VERSIONS].join(', ')}.`,
      }
}

const STATUS: Partial<Record<WireErrorCode, number>> = {
  'parse-error': 400,
  'invalid-request': 400,
  'session-not-found': 404,
  'too-large': 413,
  'rate-limited': 429,
  capacity: 503,
  'store-unavailable': 503,
}

/** Statuses of the stateless protocol version, at both endpoints. */
const MODERN_STATUS: Partial<Record<WireErrorCode, number>> = {
  'method-not-found': 404,
  'header-mismatch': 400,
  'missing-capability': 400,
  'unsupported-version': 400,
}

/** Returns 200 for most errors at the trainer endpoint; at the agent endpoint plain clients need the status. */
export function statusOf(refusal: WireErrorCode | null, endpoint: Caller['endpoint'], modern: boolean): number {
  if (modern && refusal !== null && MODERN_STATUS[refusal]) return MODERN_STATUS[refusal]
  if (refusal === null || (endpoint === 'trainer' && refusal !== 'too-large')) return 200
  return STATUS[refusal] ?? 200
}

export function missingTransport(): Denial {
  return { status: 400, message: 'Send the Mcp-Session-Id that initialize answered with.' }
}
