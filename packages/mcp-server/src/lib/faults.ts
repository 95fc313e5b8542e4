import { WireError } from '@episodic/protocol'
import { StateError } from '@episodic/state'
import { randomText } from './handles.ts'

/** An environment's code failed. */
export interface Fault {
  /** What the caller was told instead of the cause. */
  readonly reference: string
  readonly environment: string
  /** The id of the session. */
  readonly session: string
  readonly cause: unknown
}

/** Tells faults of an environment's own code from mistakes of callers, and gives each fault a reference. */
export class Faults {
  readonly #onFault: (fault: Fault) => void

  constructor(onFault: (fault: Fault) => void) {
    this.#onFault = onFault
  }

  /** Runs an environment's code. What it throws becomes `environment-failed`, unless it is a refusal of ours. */
  guard<T>(environment: string, session: string, run: () => T): T {
    try {
      return run()
    } catch (cause) {
      throw WireError.is(cause) ? cause : this.#report(environment, session, cause)
    }
  }

  /** What a session refused, as the wire says it; what the rules left behind and cannot be kept is their fault. */
  translate(environment: string, session: string, error: unknown): unknown {
    if (StateError.is(error, 'not-json') || StateError.is(error, 'too-large'))
      return this.#report(environment, session, error)
    return refusalOf(error)
  }

  #report(environment: string, session: string, cause: unknown): WireError {
    const reference = randomText()
    this.#onFault({ reference, environment, session, cause })
    const what = cause instanceof Error ? cause.message : String(cause)
    return new WireError(
      'environment-failed',
      `The environment ${environment} failed, and the call changed nothing: ${what}`,
      {
        cause,
        details: { reference },
      },
    )
  }
}

/** What a session or a store refuses, as the wire says it. Anything else is passed on as it is. */
export function refusalOf(error: unknown): unknown {
  if (!StateError.is(error)) return error
  const { message, details } = error
  switch (error.code) {
    case 'session-not-found':
    case 'seq-conflict':
    case 'seq-reused':
    case 'fenced':
    case 'state-lost':
    case 'episode-ended':
      return new WireError(error.code, message, { cause: error, details })
    case 'store-unavailable':
      // What a store says of itself names files and machines. It is for the log; the caller needs to know what to do.
      return new WireError(
        error.code,
        'What this server keeps its sessions in does not answer. Try again in a moment.',
        {
          cause: error,
        },
      )
    case 'action-invalid':
      return new WireError('invalid-params', message, { cause: error })
    case 'queue-full':
      return new WireError('rate-limited', message, { cause: error, details: { retryAfterSeconds: 1 } })
    default:
      return error
  }
}
