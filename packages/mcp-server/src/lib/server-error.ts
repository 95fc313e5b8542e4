import { CodedError } from '@episodic/protocol/internal'

/**
 * - `definition-invalid`: an environment is defined in a way that cannot be served.
 * - `rules-failed`: an environment's code threw, or returned what its own schemas forbid.
 * - `session-lost`: thrown by the `prepare` of a tool: what it keeps outside for this session is gone, such as a
 *   process that has died. No further step of the session is played.
 * - `not-recorded`: thrown by an environment that plays a recording, for what the recording does not have. No further
 *   step of the session is played.
 * - `secret-leaked`: an answer had a secret of its session in it, and was withheld.
 * - `option-invalid`: a host or endpoint was asked for something that it does not do.
 * - `unsafe-bind`: an endpoint would be open to a network without authentication.
 * - `address-in-use`: another program has the port.
 */
export type ServerErrorCode =
  | 'definition-invalid'
  | 'rules-failed'
  | 'session-lost'
  | 'not-recorded'
  | 'secret-leaked'
  | 'option-invalid'
  | 'unsafe-bind'
  | 'address-in-use'

export class ServerError extends CodedError<ServerErrorCode> {
  static override readonly brand: string = 'ServerError'
}

export function rulesFailed(message: string, options?: ErrorOptions): ServerError {
  return new ServerError('rules-failed', message, options)
}

export function portInUse(address: string, port: number, cause: unknown): ServerError {
  return new ServerError(
    'address-in-use',
    `Port ${port} of ${address} is in use. Stop what uses it, or choose another port.`,
    { cause },
  )
}
