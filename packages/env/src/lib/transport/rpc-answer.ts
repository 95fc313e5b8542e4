import { type JsonObject, WireError } from '@episodic/protocol'
import { wireErrorCodeOf } from '@episodic/protocol/extend'
import { EnvError } from '../env-error.ts'

/** What may be a JSON-RPC answer. */
export interface RpcAnswer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** Reads an answer; `null` for what is not even an object. */
export function parseAnswer(text: string): RpcAnswer | null {
  try {
    const message: unknown = JSON.parse(text)
    return typeof message === 'object' ? message : null
  } catch {
    return null
  }
}

export function isRpcError(error: unknown): error is RpcError {
  const { code, message } = (error ?? {}) as Partial<RpcError>
  return typeof code === 'number' && typeof message === 'string'
}

/**
 * An error answer of a server: ours keeps its code, another's is a failure of the connection. `failure` is what is known
 * of it besides.
 */
export function refusal({ code, message, data }: RpcError, failure: JsonObject = { retryable: false }): Error {
  const known = wireErrorCodeOf(code)
  const details = typeof data === 'object' && data !== null ? (data as JsonObject) : {}
  return known
    ? new WireError(known, message, { details })
    : new EnvError('connection-failed', `The server refused: ${message} (${code})`, { details: failure })
}

/** Who answers so in place of a server that is starting, stopping or behind a gateway that cannot reach it. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504])

/** What a caller should know of a failure over HTTP: whether the same call may get an answer later, and when. */
export function failureDetails(status: number, retryAfter = 0): JsonObject {
  return { retryable: AWAY.has(status), ...(retryAfter > 0 && { retryAfterSeconds: retryAfter }) }
}
