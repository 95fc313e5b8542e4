import type { JsonObject } from '@episodic/protocol'
import { CodedError } from '@episodic/protocol/extend'

/**
 * - `config-invalid`: an `mcpServers` configuration, a scope or a tool's name is not what it should be.
 * - `server-unknown`: the configuration has no server of that name; the message lists those that it has.
 * - `connection-failed`: a server could not be started or reached, or would not talk.
 * - `unauthorized`: the server wants other credentials. `details.status` is its answer, where it gave one.
 * - `too-many-sessions`: as many sessions are open as may be. Close one, or raise `maximumSessions`.
 * - `too-many-calls`: as many calls wait for one session as may wait.
 * - `tool-unknown`: the server lists no tool of that name; the message lists those that it has, or says that it vanished.
 * - `session-closed`: the session was closed, by its owner.
 * - `session-expired`: the server has ended the session (an idle time-out, a restart). The call was not made.
 * - `session-lost`: the connection is gone. The call was not made, or may be made again.
 * - `call-refused`: the server would not take the call, such as for its rate. It was not made, and the session is as it was.
 * - `call-timed-out`: no answer came in time to a call that may be made again.
 * - `answer-malformed`: the server answered with something that is no answer, to a call that may be made again.
 * - `outcome-unknown`: a call was sent, no answer came, and whether it had its effect cannot be known. `details.tool` names it,
 *   and `details.reason` says how the answer was lost.
 * - `restore-failed`: the session was opened again, and its `restore` hook failed.
 * - `transaction-open`: a transaction was begun in a session that has one.
 * - `transaction-rolled-back`: nothing of the transaction was kept. `details.rollback` says whether the server said so.
 * - `transaction-unknown`: it cannot be known whether the transaction was kept.
 * - `executor-busy`: more invocations wait for one executor than may wait.
 * - `step-limit`: the model still wanted tools after as many turns as it may take.
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
  constructor(code: AgentErrorCode, message: string, options?: Options) {
    super('AgentError', code, message, options)
  }

  static is(error: unknown, code?: AgentErrorCode): error is AgentError {
    return CodedError.isBranded('AgentError', error, code)
  }
}

/** An `AgentError` with the code `session-expired`. */
export class SessionExpiredError extends AgentError {
  constructor(message: string, options?: Options) {
    super('session-expired', message, options)
  }

  static override is(error: unknown): error is SessionExpiredError {
    return CodedError.isBranded('AgentError', error, 'session-expired')
  }
}

/** An `AgentError` with the code `session-lost`. */
export class SessionLostError extends AgentError {
  constructor(message: string, options?: Options) {
    super('session-lost', message, options)
  }

  static override is(error: unknown): error is SessionLostError {
    return CodedError.isBranded('AgentError', error, 'session-lost')
  }
}
