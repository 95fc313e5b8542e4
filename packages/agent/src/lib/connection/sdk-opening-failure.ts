import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { AgentError } from '../agent-error.ts'
import type { ConnectionFailure } from './connection.ts'
import { reasonOf } from './reason.ts'
import { failureOf, STREAM_ENDED } from './sdk-failure.ts'
import type { ServerConfig } from './server-config.ts'

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
  const notThere = (cause as NodeJS.ErrnoException)?.code === 'ENOENT' && 'command' in server
  const why = notThere
    ? `there is no command ${server.command}${server.cwd ? `, or no folder ${server.cwd}` : ''}`
    : [failure?.message ?? reasonOf(cause), explanation, hintOf(failure)].filter(Boolean).join('; ')
  return new AgentError('connection-failed', `Cannot open a session with the server ${name} (${where}): ${why}.`, {
    cause,
    details: { server: name },
  })
}

function hintOf(failure: ConnectionFailure | null): string {
  if (failure?.status !== 404 && failure?.status !== 405) return ''
  return 'its path may be another one, or it may speak the HTTP with SSE of 2024-11-05, which is not spoken here'
}

function causeOf(error: unknown): unknown {
  return error instanceof Explained ? error.cause : error
}
