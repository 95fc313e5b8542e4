import type { JsonObject } from '@episodic/protocol'
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client'
import { AgentError } from '../agent-error.ts'
import { ConnectionFailure } from './connection.ts'
import { reasonOf } from './reason.ts'
import type { ServerConfig } from './server-config.ts'

/** The error code of a request whose stream ended before the answer. */
export const STREAM_ENDED = 1_000_001

/** Error codes of sockets that never connected, so that the request was not sent. */
const NEVER_CONNECTED = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]

/** Returns the failure of a call whose arguments are not JSON, so that it was not sent; otherwise `null`. */
export function unsaid(args: JsonObject, cause: unknown): ConnectionFailure | null {
  try {
    JSON.stringify(args)
    return null
  } catch (error) {
    return fail('refused', `its arguments cannot be said as JSON: ${reasonOf(error)}`, false, cause)
  }
}

/**
 * Translates an error of the SDK. Returns `null` for an error answer of the server. `ending` says how the server's
 * process ended.
 */
export function failureOf(cause: unknown, ending: string | null = null): ConnectionFailure | null {
  if (cause instanceof ConnectionFailure) return cause
  if (cause instanceof ProtocolError)
    return cause.code === STREAM_ENDED ? fail('lost', 'the stream of the answer ended before it', true, cause) : null
  if (cause instanceof SdkHttpError) return httpFailure(cause)
  if (cause instanceof UnauthorizedError) return fail('unauthorized', 'it wants to know who calls', false, cause, 401)
  if (cause instanceof SdkError) return sdkFailure(cause, ending)
  if (cause instanceof SyntaxError || (cause as Error)?.name === 'ZodError')
    return fail('malformed', `it answered with what is no message of MCP`, true, cause)
  const reason = reasonOf(cause)
  const neverSent = /^Not connected/.test(reason) || NEVER_CONNECTED.includes(socketCodeOf(cause))
  return fail('lost', reason, !neverSent, cause)
}

function httpFailure(cause: SdkHttpError): ConnectionFailure {
  const { status } = cause
  const said = saidIn(cause.message)
  const message = `it answered with HTTP status ${status}${said && `: ${said}`}`
  // Some servers answer 400, not 404, for an unknown session.
  if (status === 404 || (status === 400 && /session|not initialized/i.test(cause.message)))
    return fail('expired', message, false, cause, status)
  if (status === 401 || status === 403) return fail('unauthorized', message, false, cause, status)
  // The statuses of a proxy whose server is not reachable, or did not answer.
  if (status === 502 || status === 504) return fail('lost', message, true, cause, status)
  return fail('refused', message, status === undefined || (status >= 500 && status !== 503), cause, status)
}

function sdkFailure(cause: SdkError, ending: string | null): ConnectionFailure {
  switch (cause.code) {
    case SdkErrorCode.NotConnected:
      return fail('lost', ending ?? 'the connection is closed', false, cause)
    case SdkErrorCode.ConnectionClosed:
      return fail('lost', `${ending ?? 'the connection was closed'} before the answer`, true, cause)
    case SdkErrorCode.RequestTimeout:
      return fail('timed-out', 'no answer came in time', true, cause)
    default:
      return fail('malformed', cause.message, true, cause)
  }
}

function fail(
  kind: ConnectionFailure['kind'],
  message: string,
  mayHaveArrived: boolean,
  cause: unknown,
  status: number | null = null,
): ConnectionFailure {
  return new ConnectionFailure(kind, message, { mayHaveArrived, status, cause })
}

/** Returns the JSON-RPC error message in a response body, which the SDK quotes in its error. */
function saidIn(message: string): string {
  const said = /"message":("(?:[^"\\]|\\.)*")/.exec(message)?.[1]
  return said === undefined ? '' : JSON.parse(said)
}

function socketCodeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException
    if (typeof code === 'string') return code
  }
  return ''
}

/** Why connecting failed, with an explanation. */
export class Explained extends Error {
  constructor(explanation: string, cause: unknown) {
    super(explanation, { cause })
  }
}

/** Whether a server that rejected the handshake may support only the stateless version. */
export function mayBeModern(error: unknown): boolean {
  const cause = causeOf(error)
  if (cause instanceof ProtocolError) return cause.code !== STREAM_ENDED
  return cause instanceof SdkHttpError && [400, 404, 405, 406].includes(cause.status ?? 0)
}

/** Whether the error only says that the server does not support the stateless version. */
export function supportsNoModern(error: unknown): boolean {
  const cause = causeOf(error)
  return cause instanceof SdkError && cause.code === SdkErrorCode.EraNegotiationFailed
}

/** Returns the error for a session that could not be opened, with what to do. */
export function openingError(name: string, server: ServerConfig, error: unknown): AgentError {
  const explanation = error instanceof Explained ? error.message : ''
  const cause = causeOf(error)
  const where = 'url' in server ? server.url : `the command ${server.command}`
  const failure = failureOf(cause)
  if (failure?.kind === 'unauthorized')
    return new AgentError(
      'unauthorized',
      `The server ${name} (${where}) wants other credentials: ${failure.message}. Set its token, its headers or its authorization.`,
      { cause, details: { server: name, status: failure.status } },
    )
  const why = [failure?.message ?? reasonOf(cause), explanation, hintOf(failure, server)].filter(Boolean).join('; ')
  return new AgentError('connection-failed', `Cannot open a session with the server ${name} (${where}): ${why}.`, {
    cause,
    details: { server: name },
  })
}

function hintOf(failure: ConnectionFailure | null, server: ServerConfig): string {
  if (failure?.kind === 'timed-out' && 'command' in server) return 'if it starts slowly, give it its `startSeconds`'
  if (failure?.status !== 404 && failure?.status !== 405) return ''
  return 'its path may be another one, or it may speak the HTTP with SSE of 2024-11-05, which is not spoken here'
}

function causeOf(error: unknown): unknown {
  return error instanceof Explained ? error.cause : error
}
