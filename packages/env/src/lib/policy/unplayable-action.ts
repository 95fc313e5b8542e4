import { WireError } from '@episodic/protocol'
import { PlayerStop } from '../policy/player-stop.ts'

/** Codes of a server that does not take an action at all, as it does with arguments that are too large or too deep. */
const UNPLAYABLE = ['invalid-params', 'too-large'] as const

/**
 * Whether a server did not take an action, so that no step was played. A refused action is a step, and no such error.
 */
export function isUnplayable(error: unknown): error is WireError {
  return UNPLAYABLE.some((code) => WireError.is(error, code))
}

/** Returns the stop of a player that gave an unplayable action. */
export function unplayable(error: WireError): PlayerStop {
  return new PlayerStop('invalid-action', `The action cannot be played: ${error.message}`, { cause: error })
}
