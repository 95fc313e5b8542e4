import type { JsonObject } from '@episodic/protocol'
import { CodedError } from '@episodic/protocol/internal'

/**
 * - `target-invalid`: the target is not a URL, a command or a channel.
 * - `option-invalid`: an option has a value that it cannot have.
 * - `login-failed`: the server asked for a login, and there was none, or it failed.
 * - `unauthorized`: the server rejected the credentials.
 * - `expired`: the server no longer knows the session.
 * - `lost`: the connection is gone, or was never made.
 * - `refused`: the server rejected the request.
 * - `timed-out`: no answer came in time.
 * - `malformed`: the answer is invalid.
 */
export type McpErrorCode =
  | 'target-invalid'
  | 'option-invalid'
  | 'login-failed'
  | 'unauthorized'
  | 'expired'
  | 'lost'
  | 'refused'
  | 'timed-out'
  | 'malformed'

/** What is known of a request without an answer. */
export interface Failure {
  /** Part of a sentence that says what happened: `it ended with status 1`. Default: the message. */
  readonly why?: string
  /** Whether the request may have reached the server, and had an effect. Default `true`. */
  readonly mayHaveArrived?: boolean
  readonly status?: number | undefined
  /** Its `retryable` is `false` if a retry would fail too. */
  readonly details?: JsonObject
  readonly cause?: unknown
}

/** Why a request to an MCP server got no result that can be used. */
export class McpError extends CodedError<McpErrorCode> {
  static override readonly brand: string = 'McpError'
  readonly why: string
  readonly mayHaveArrived: boolean
  readonly status: number | null

  constructor(code: McpErrorCode, message: string, failure: Failure = {}) {
    const { why = message, mayHaveArrived = true, status = null, ...options } = failure
    super(code, message, options)
    this.why = why
    this.mayHaveArrived = mayHaveArrived
    this.status = status
  }
}

/** Returns the error of a request that got no answer from a server of that name. */
export function noAnswer(code: McpErrorCode, name: string, failure: Failure & { readonly why: string }): McpError {
  return new McpError(code, `No answer from ${name}: ${sentence(failure.why)}`, failure)
}

/** Returns a text that ends as a sentence does. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message && !error.message.includes(cause.message)
    ? `${error.message} (${cause.message})`
    : error.message
}
