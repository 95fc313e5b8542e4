import type { Action, EpisodeEnd, Observation, Terms } from '@episodic/protocol'
import type { Played, PlayedSeats, SessionState } from '@episodic/state'
import { ServerError } from '../server-error.ts'
import { absenceOf } from './absence.ts'
import { bySeat } from './by-seat.ts'
import { type DecidedMove, type GameEnvironment, playingSeats } from './decided-move.ts'
import type { RulesTurn } from './rules-turn.ts'

/** Returns what a decided move means to each seat: rewards, ends, whose turn it is, and what they see. */
export function concludeMove(
  environment: GameEnvironment,
  turn: RulesTurn,
  action: Action,
  decided: DecidedMove,
): Played {
  const { record, seat } = turn
  const { params } = record
  const { refusal, change, effects, moved, text } = decided
  const after = change ? change.state : record.state
  const others = playingSeats(record).filter((other) => other !== seat)
  const end = sessionEnd(turn, decided)
  const endOf = (name: string): EpisodeEnd | null => {
    const reason = effects?.left[name]
    return reason === undefined ? end : { kind: 'terminated', reason }
  }
  const ending = [seat, ...others].filter((name) => endOf(name) !== null)
  const next = end ? [] : nextTurn(environment, turn, decided, after)
  const rewarded = refusal !== null || effects !== null
  // Of a round of sealed moves, which call was the last depends on who was slow.
  const called = decided.before === undefined && absenceOf(action) === null
  const transition = {
    before: decided.before ?? record.state,
    after,
    moved,
    tool: called ? action.tool : null,
    input: called ? action.arguments : null,
    params,
    refused: refusal,
    events: [],
  }
  const termsOf = (name: string): Terms => environment.rewards({ ...transition, end: endOf(name) }, name)
  const see = (name: string): Observation => environment.observe(after, params, name)
  const seen = see(seat)
  const successes = environment.hasSuccess
    ? bySeat(
        ending,
        (name) => environment.success({ end: endOf(name) as EpisodeEnd, state: after, params }, name) === true,
      )
    : {}
  const seats: PlayedSeats = {
    turn: next,
    ...(rewarded ? { terms: bySeat(others, termsOf) } : { sealed: true }),
    ...(ending.length > 0 && { ends: bySeat(ending, (name) => endOf(name) as EpisodeEnd) }),
    ...(ending.length > 0 && environment.hasSuccess && { successes }),
    // A refused or sealed move shows nothing to others, nor that it was made.
    views: bySeat(
      others.filter((name) => ending.includes(name) || (effects !== null && next.includes(name))),
      see,
    ),
    ...(effects && Object.keys(effects.messages).length > 0 && { sent: effects.messages }),
  }
  return {
    change,
    end,
    observation: {
      // Who has to wait is shown the state when its turn comes: by then it is another one.
      text: next.includes(seat) || endOf(seat)?.kind === 'truncated' ? `${text}\n${seen.text}` : text,
      structured: refusal ? null : (decided.structured ?? seen.structured),
    },
    terms: rewarded ? termsOf(seat) : Object.fromEntries(environment.terms.map((term) => [term, 0])),
    potential: environment.potential(after, params, seat),
    ...(successes[seat] !== undefined && { success: successes[seat] }),
    refused: refusal,
    seats,
  }
}

/** Returns how the episode ended for all seats; `null` if it goes on for one. */
function sessionEnd({ record, truncation: limit }: RulesTurn, { effects, truncation }: DecidedMove): EpisodeEnd | null {
  if (effects && effects.ended !== null) return { kind: 'terminated', reason: effects.ended }
  if (effects && playingSeats(record).every((seat) => effects.left[seat] !== undefined))
    return { kind: 'terminated', reason: 'all-left' }
  const reason = truncation ?? limit
  return reason && { kind: 'truncated', reason }
}

/** Returns the seats that may act after a move. */
function nextTurn(
  environment: GameEnvironment,
  { record, seat }: RulesTurn,
  { refusal, effects, waiting }: DecidedMove,
  after: SessionState,
): readonly string[] {
  if (refusal) return record.turn ?? []
  if (!effects) return (record.turn ?? []).filter((name) => name !== seat)
  const playing = playingSeats(record).filter((name) => effects.left[name] === undefined)
  const next = (waiting ?? environment.game.turn(after, record.params)).filter((name) => playing.includes(name))
  if (next.length > 0) return next
  throw new ServerError(
    'rules-failed',
    `After this step of ${environment.name} no seat that plays is in turn, so that the episode would never go on. Let \`turn\` name one of ${playing.join(', ')}, or call end(…).`,
  )
}
