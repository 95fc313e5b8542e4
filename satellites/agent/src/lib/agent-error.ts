import type { JsonObject } from '@episodic/protocol'
import { CodedError } from '@episodic/protocol/internal'

/**
 * - `config-invalid`: an `mcpServers` configuration, a scope or the name of a tool is invalid.
 * - `server-unknown`: the configuration has no server of that name; the message lists its servers.
 * - `connection-failed`: a server could not be started or reached, or did not answer.
 * - `unauthorized`: the server rejected the credentials. `details.status` is the HTTP status of its answer, if there is
 *   one.
 * - `too-many-sessions`: `maximumSessions` are open. Close one, or raise the bound.
 * - `too-many-calls`: `maximumWaitingCalls` wait for one session.
 * - `tool-unknown`: the server lists no tool of that name; the message lists its tools, or says that the tool was
 *   removed.
 * - `session-closed`: the session was closed, by its owner.
 * - `session-expired`: the server ended the session, after an idle timeout or a restart. The call was not made.
 * - `session-lost`: the connection is lost. The call was not made, or is safe to repeat.
 * - `call-refused`: the server rejected the call, for example because of a rate limit. It was not made, and the session
 *   is unchanged.
 * - `call-timed-out`: no answer came in time to a call that is safe to repeat.
 * - `answer-malformed`: the answer is invalid, to a call that is safe to repeat.
 * - `outcome-unknown`: a call was sent, and its answer was lost, so its effect is unknown. `details.tool` is its tool,
 *   `details.reason` says how the answer was lost.
 * - `restore-failed`: the session was opened again, and its `restore` hook failed.
 * - `transaction-open`: the session is in a transaction already.
 * - `transaction-rolled-back`: the transaction was rolled back. `details.rollback` says whether the server confirmed
 *   it.
 * - `transaction-unknown`: whether the transaction was committed is unknown.
 * - `executor-busy`: `maximumWaitingInvocations` wait for one executor.
 * - `step-limit`: the model still called tools after `maximumTurns`.
 */
export type AgentErrorCode =
  | 'config-invalid'
  | 'server-unknown'
  | 'connection-failed'
  | 'unauthorized'
  | 'too-many-sessions'
  | 'too-many-calls'
  | 'tool-unknown'
  | 'session-closed'
  | 'session-expired'
  | 'session-lost'
  | 'call-refused'
  | 'call-timed-out'
  | 'answer-malformed'
  | 'outcome-unknown'
  | 'restore-failed'
  | 'transaction-open'
  | 'transaction-rolled-back'
  | 'transaction-unknown'
  | 'executor-busy'
  | 'step-limit'

type Options = ErrorOptions & { details?: JsonObject }

export class AgentError extends CodedError<AgentErrorCode> {
  static override readonly brand: string = 'AgentError'
}

export class SessionExpiredError extends AgentError {
  constructor(message: string, options?: Options) {
    super('session-expired', message, options)
  }

  static override readonly is: typeof AgentError.is = isOfCode('session-expired')
}

export class SessionLostError extends AgentError {
  constructor(message: string, options?: Options) {
    super('session-lost', message, options)
  }

  static override readonly is: typeof AgentError.is = isOfCode('session-lost')
}

function isOfCode(code: AgentErrorCode) {
  return ((error: unknown) => AgentError.is(error, code)) as typeof AgentError.is
}
