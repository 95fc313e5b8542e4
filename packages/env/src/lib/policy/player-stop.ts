import { type StepReport, WireError } from '@episodic/protocol'
import { CodedError, type StopReason } from '@episodic/protocol/internal'

/**
 * A player throws it to say that it does not play on, and why. The session is closed, and the episode is `truncated`
 * for that reason, with its return so far, and not succeeded. Any other error of a player is a fault, and its episode
 * is `failed`.
 *
 * The code `closed` is that of a player which has left in peace: its world has judged it, which is then given.
 */
export class PlayerStop extends CodedError<StopReason | 'closed'> {
  static override readonly brand: string = 'PlayerStop'
  readonly success: boolean
  readonly verdicts: StepReport['verdicts']

  constructor(
    code: StopReason | 'closed',
    message: string,
    { success = false, verdicts, ...options }: ErrorOptions & Pick<StepReport, 'success' | 'verdicts'> = {},
  ) {
    super(code, message, options)
    this.success = success
    this.verdicts = verdicts
  }
}

/**
 * Whether a server did not take an action at all, as it does with arguments that are too large or too deep, so that no
 * step was played. A refused action is a step, and no such error.
 */
export function isUnplayable(error: unknown): error is WireError {
  return WireError.is(error, 'invalid-params') || WireError.is(error, 'too-large')
}

export function unplayable(error: WireError): PlayerStop {
  return new PlayerStop('invalid-action', `The action cannot be played: ${error.message}`, { cause: error })
}
