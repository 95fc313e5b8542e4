import type { EnvironmentInfo } from '@episodic/protocol'
import { CodedError } from '@episodic/protocol/internal'

/**
 * - `target-invalid`: the target is not a URL, a command, an `mcpServers` entry or a channel.
 * - `config-invalid`: an `mcpServers` file is invalid.
 * - `connection-failed`: the server could not be reached, or did not answer. `details.retryable` is `false` if a retry
 *   would fail too. `details.retryAfterSeconds` is set if the server asked for a delay.
 * - `login-failed`: the server asked for a login, and the login failed.
 * - `not-an-environment`: the server speaks MCP, but not the environment extension; or it is not a server of the system
 *   that the target names.
 * - `reply-malformed`: the answer of the server is not a valid one. It is never scored and never counted as a zero.
 * - `not-playing`: `step` before `reset`, after `close`, or after the episode ended; `snapshot` or `fork` before or
 *   after one.
 * - `not-forkable`: a snapshot, restore or fork of an environment whose state an external server keeps.
 * - `outcome-unknown`: the reply of an external server was lost, and whether the call had its effect cannot be known.
 * - `rules-failed`: the environment of another system's server failed.
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
  static override readonly brand: string = 'EnvError'
}

/** Returns the error for an option or a task that names something that the environment does not have. */
export function optionInvalid(message: string, options?: ErrorOptions): EnvError {
  return new EnvError('option-invalid', message, options)
}

export function notForkable({ name }: EnvironmentInfo): EnvError {
  return new EnvError(
    'not-forkable',
    `${name} cannot be snapshotted, restored or forked: an external server keeps its state. Play it from its start instead.`,
  )
}

export function takesNoEvents({ name }: EnvironmentInfo): EnvError {
  return optionInvalid(`${name} takes no outside events. Define \`events\` in its environment.`)
}
