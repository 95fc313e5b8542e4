import type { JsonObject } from '@episodic/protocol'
import { CodedError } from '@episodic/protocol/extend'

/**
 * - `target-invalid`: what was to be connected to is not a URL, a command, an `mcpServers` entry or a channel.
 * - `config-invalid`: an `mcpServers` file is not what it should be.
 * - `connection-failed`: the server could not be reached, or would not talk. `details.retryable` is `false` where asking
 *   again would get the same, and `details.retryAfterSeconds` says when to, where the server does.
 * - `login-failed`: the server asked for a login, and that came to nothing.
 * - `not-an-environment`: the server speaks MCP, but not the environment extension.
 * - `reply-malformed`: the server answered with something that is not an answer. Never scored, never a zero.
 * - `not-playing`: `step` before `reset`, after `close`, or after the episode ended; `snapshot` or `fork` before or after one.
 * - `not-forkable`: a snapshot, restore or fork of a world whose state somebody else keeps.
 * - `outcome-unknown`: the reply of an external server was lost, and whether the call had its effect cannot be known.
 * - `rules-failed`: the definition of an external environment threw, scored with what is no number, or was refused by its server.
 * - `option-invalid`: an option or a task names something that the environment does not have.
 */
export type EnvErrorCode =
  | 'target-invalid'
  | 'config-invalid'
  | 'connection-failed'
  | 'login-failed'
  | 'not-an-environment'
  | 'reply-malformed'
  | 'not-playing'
  | 'not-forkable'
  | 'outcome-unknown'
  | 'rules-failed'
  | 'option-invalid'

export class EnvError extends CodedError<EnvErrorCode> {
  constructor(code: EnvErrorCode, message: string, options?: ErrorOptions & { details?: JsonObject }) {
    super('EnvError', code, message, options)
  }

  static is(error: unknown, code?: EnvErrorCode): error is EnvError {
    return CodedError.isBranded('EnvError', error, code)
  }
}
