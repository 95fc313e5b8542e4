import { findNonJson, type Json } from '@episodic/protocol'
import type { SavableRng } from '@episodic/protocol/internal'
import type { Played, SessionRecord, SessionState, Turn } from '@episodic/state'
import { rulesFailed } from '../../server-error.ts'
import type { EnvironmentDefinition } from '../definition/environment.ts'

/** Additional checks of an environment's code, for checks, replays and tests. */
export interface PlayChecks {
  /** Throws for keys that a schema would drop silently. Default `false`. */
  readonly strict?: boolean
  /** Called with each value that a tool reveals, and with the seats that it is meant for; `null` for all. */
  readonly onReveal?: (value: Json, to: readonly string[] | null) => void
  /** Replaces the random streams of the session. */
  readonly rng?: SavableRng
}

/** The part of a session that the rules see. The outcome of an action depends on nothing else. */
export interface RulesTurn extends Pick<Turn, 'seat' | 'draft' | 'truncation' | 'prepared'> {
  readonly record: Pick<
    SessionRecord,
    'params' | 'seed' | 'rng' | 'now' | 'state' | 'history' | 'end' | 'outside' | 'seats' | 'turn'
  >
}

export interface PlayOutcome extends Played {
  /** A key that was said and left out, as the output does not declare it. Of inner objects, none is reported. */
  readonly undeclared?: string
}

export function playingSeats({ seats }: Pick<RulesTurn['record'], 'seats'>): readonly string[] {
  return Object.keys(seats).filter((seat) => !seats[seat]?.end)
}

export function bySeat<T>(seats: readonly string[], of: (seat: string) => T): { [seat: string]: T } {
  return Object.fromEntries(seats.map((seat) => [seat, of(seat)]))
}

/** Returns the seats that rules name in a call of theirs. Throws `rules-failed` for one that does not play. */
export function namedSeats(
  { name }: EnvironmentDefinition,
  record: Pick<RulesTurn['record'], 'seats'>,
  what: string,
  named: string | readonly string[],
): readonly string[] {
  const seats = typeof named === 'string' ? [named] : named
  const playing = playingSeats(record)
  const unknown = seats.find((seat) => !playing.includes(seat))
  if (unknown === undefined) return seats
  throw rulesFailed(
    `A rule of ${name} calls ${what} with "${unknown}", and the seats that play are: ${playing.join(', ')}.`,
  )
}

/** Returns the reason that rules give for an end. Throws a `TypeError` for what is no text, or an empty one. */
export function endReason(what: 'end' | 'leave', reason: unknown): string {
  if (typeof reason === 'string' && reason !== '' && reason.isWellFormed()) return reason
  const got = typeof reason === 'string' ? JSON.stringify(reason) : String(reason)
  throw new TypeError(`${what} needs a reason, which is a short text such as "solved"; it got ${got}.`)
}

const MESSAGE_CHARACTERS = 4_000

export function sentTextProblem(text: string): string | null {
  const problem = typeof text === 'string' ? findNonJson(text, 'the text') : 'it is no text'
  if (problem) return `sends what cannot be kept: ${problem}`
  return text.length > MESSAGE_CHARACTERS
    ? `sends ${text.length} characters at once, and ${MESSAGE_CHARACTERS} are the most`
    : null
}

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
