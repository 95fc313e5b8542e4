import type { SessionState } from '@episodic/state'
import { rulesFailed } from '../../server-error.ts'
import type { EnvironmentDefinition } from '../definition/environment.ts'
import { playingSeats, type RulesTurn } from './rules-turn.ts'

/** Returns the seats in turn, those with a sealed move included. */
export function seatsInTurn(
  environment: EnvironmentDefinition,
  record: Pick<RulesTurn['record'], 'seats' | 'state' | 'params'>,
): readonly string[] {
  const playing = playingSeats(record)
  return environment.turn(record.state, record.params).filter((seat) => playing.includes(seat))
}

/**
 * Returns the seats in turn after an outside event. Throws `rules-failed` if that is nobody, and if it is another one
 * in the middle of a round of sealed moves, which would never be played.
 */
export function turnAfterEvent(
  environment: EnvironmentDefinition,
  record: Pick<RulesTurn['record'], 'seats' | 'state' | 'params' | 'turn'>,
  type: string,
  after: SessionState,
): readonly string[] {
  const { turn = [] } = record
  const before = seatsInTurn(environment, record)
  const next = seatsInTurn(environment, { ...record, state: after })
  if (next.join() === before.join()) return turn
  const what = `The event ${type} of ${environment.name}`
  if (turn.length < before.length)
    throw rulesFailed(
      `${what} changes whose turn it is while the moves of a round are sealed. Change it in \`settle\`, after the round.`,
    )
  if (next.length > 0) return next
  throw rulesFailed(
    `After ${what.replace('The', 'the')} no seat that plays is in turn, so that the episode would never go on. Let \`turn\` name one, or call end(…).`,
  )
}
