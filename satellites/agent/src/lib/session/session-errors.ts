import type { McpError } from '@episodic/mcp-client'
import { AgentError, SessionExpiredError, SessionLostError } from '../agent-error.ts'
import type { SessionHealth } from './session-calls.ts'

export interface SessionStatus {
  readonly server: string
  readonly health: SessionHealth
  readonly why: string
}

/** Returns the error of a call to a session that is not open. `repeatable`: the failed call, if safe to repeat. */
export function sessionError({ server, health, why }: SessionStatus, repeatable?: string): AgentError {
  const details = { server }
  if (health === 'closed')
    return new AgentError('session-closed', `The session with ${server} was closed. Open another one.`, { details })
  const call = repeatable === undefined ? 'The call was not made.' : `${repeatable} may be called again.`
  const advice = `What the server kept for it is gone. ${call} Refresh the session, or give its server a recovery.`
  return health === 'expired'
    ? new SessionExpiredError(`The session with ${server} has expired: ${why}. ${advice}`, { details })
    : new SessionLostError(`The session with ${server} is lost: ${why}. ${advice}`, { details })
}

/** Returns the error of a call without an answer, with what is known about its effect. */
export function callError(
  session: SessionStatus,
  tool: string,
  { code: kind, why: message, mayHaveArrived, status, cause }: McpError,
  repeatable: boolean,
): AgentError {
  const { server, health } = session
  const details = { server, tool, ...(status !== null && { status }) }
  const error = (code: AgentError['code'], text: string) => new AgentError(code, text, { cause, details })
  if (kind === 'unauthorized' || kind === 'login-failed')
    return error('unauthorized', `${server} refused the credentials of a call of ${tool}: ${message}.`)
  if (mayHaveArrived && !repeatable) {
    const after = health === 'open' ? 'The session is as it was otherwise.' : `The session is ${health}.`
    return new AgentError(
      'outcome-unknown',
      `${tool} was called, and its answer was lost: ${message}. Whether it had its effect cannot be known, and it was not called again. ${after}`,
      { cause, details: { ...details, reason: health === 'closed' ? 'closed' : kind } },
    )
  }
  if (health !== 'open') return sessionError(session, mayHaveArrived ? tool : undefined)
  const next = mayHaveArrived ? 'It may be called again.' : 'It was not made.'
  if (kind === 'timed-out') return error('call-timed-out', `${tool} of ${server} gave no answer in time. ${next}`)
  if (kind === 'malformed') return error('answer-malformed', `${tool} of ${server} was called, and ${message}. ${next}`)
  return error('call-refused', `${server} did not take a call of ${tool}: ${message}. ${next}`)
}
