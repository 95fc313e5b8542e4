import type { JsonObject } from '@episodic/protocol'
import { type McpError, noAnswer, reasonOf } from '../mcp-error.ts'

/** Error codes of sockets that never connected, so that the request was not sent. */
const NEVER_CONNECTED: readonly unknown[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]

/** The statuses of a gateway, or of a server that starts or stops. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504])

/** Returns the details of a failure over HTTP: whether a retry may succeed, and when. */
export function failureDetails(status: number, retryAfter = 0): JsonObject {
  return { retryable: AWAY.has(status), ...(retryAfter > 0 && { retryAfterSeconds: retryAfter }) }
}

interface RefusedAnswer {
  readonly status: number
  readonly text: string
  /** Seconds; 0 if the server names none. */
  readonly retryAfter?: number
  readonly cause?: unknown
}

export function statusFailure(name: string, { status, text, retryAfter, cause }: RefusedAnswer): McpError {
  const said = saidIn(text)
  const about = {
    why: `it answered with HTTP status ${status}${said && `: ${said}`}`,
    status,
    details: failureDetails(status, retryAfter),
    cause,
  }
  // Some servers answer 400, not 404, for an unknown session.
  if (status === 404 || (status === 400 && /session|not initialized/i.test(text)))
    return noAnswer('expired', name, { ...about, mayHaveArrived: false })
  if (status === 401 || status === 403) return noAnswer('unauthorized', name, { ...about, mayHaveArrived: false })
  // The statuses of a proxy whose server is not reachable, or did not answer.
  if (status === 502 || status === 504) return noAnswer('lost', name, about)
  return noAnswer('refused', name, { ...about, mayHaveArrived: status >= 500 && status !== 503 })
}

/** Returns the error for a request of which no whole answer came. */
export function socketFailure(name: string, cause: unknown): McpError {
  const code = socketCodeOf(cause)
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return noAnswer('malformed', name, { why: 'it answered with more bytes than are read', cause })
  return noAnswer('lost', name, { why: reasonOf(cause), mayHaveArrived: !NEVER_CONNECTED.includes(code), cause })
}

function saidIn(text: string): string {
  const said = /"message":\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1]
  return said === undefined ? '' : JSON.parse(said)
}

function socketCodeOf(error: unknown): unknown {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException
    if (typeof code === 'string') return code
  }
  return undefined
}
