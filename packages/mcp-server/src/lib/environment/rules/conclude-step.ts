import type { Action, EpisodeEnd, Observation, StepReport } from '@episodic/protocol'
import type { History, Played, SessionRecord, SessionState } from '@episodic/state'
import type { PlayedSeats } from '@episodic/state/internal'
import { rulesFailed } from '../../server-error.ts'
import type { Call, EnvironmentDefinition } from '../definition/environment.ts'
import type { Decided } from './decided.ts'
import { bySeat, playingSeats, type RulesTurn } from './rules-turn.ts'
import { prependEventTexts } from './step-events.ts'

const NONE: readonly never[] = []

export interface EndedEpisode extends Pick<SessionRecord, 'state' | 'params' | 'history'> {
  readonly end: EpisodeEnd
  readonly seat: string
}

/** Whether an ended episode succeeded, and the further verdicts on it, as far as the environment defines them. */
export type Judgement = Pick<StepReport, 'success' | 'verdicts'>

/** Returns what a decided action means to each seat: rewards, ends, whose turn it is, and what they see. */
export function concludeStep(
  environment: EnvironmentDefinition,
  turn: RulesTurn,
  action: Action,
  decided: Decided,
): Played {
  const { record, seat } = turn
  const { params, outside } = record
  const { refusal, change, effects, moved, called, text, shown = text } = decided
  const after = change ? change.state : record.state
  const events = outside ? outside.pending : NONE
  const end = sessionEnd(turn, decided)
  const endOf = (name: string): EpisodeEnd | null => {
    const reason = effects?.left[name]
    return reason === undefined ? end : { kind: 'terminated', reason }
  }
  const ownEnd = endOf(seat)
  const next = end ? NONE : nextTurn(environment, turn, decided, after)
  const remember = environment.history ? remembered(environment, seat, action, decided) : undefined
  const history = remember && environment.history === 'calls' ? [...record.history, remember] : record.history
  const transition = {
    before: decided.before ?? record.state,
    after,
    moved,
    tool: called ? action.tool : null,
    input: called ? action.arguments : null,
    params,
    calls: callsOf(environment, history),
    refused: refusal,
    events,
    end: ownEnd,
  }
  // Who has to wait is shown the state when its turn comes: by then it is another one. After a termination there is no
  // state to act on; after a truncation there is.
  const shows = next.includes(seat) || ownEnd?.kind === 'truncated'
  const seen = shows || (refusal === null && !decided.structured) ? environment.observe(after, params, seat) : null
  const answer = shows && seen && seen.text !== '' ? `${shown}\n${seen.text}` : shown
  // Each seat of a game has the texts of events among its messages since they happened.
  const said = events.length > 0 && !environment.multiplayer ? prependEventTexts(events, answer) : answer
  const observation: { -readonly [Part in keyof Observation]: Observation[Part] } = {
    text: said,
    structured: refusal === null ? (decided.structured ?? (seen as Observation).structured) : null,
  }
  if (decided.attachments) observation.attachments = decided.attachments
  const tools = seen ? seen.tools : environment.offers?.(after, params, seat)
  if (tools) observation.tools = tools
  const before = said.length - answer.length
  if (decided.resources)
    observation.resources = decided.resources.map((one) => ({ ...one, from: one.from + before, to: one.to + before }))
  // A move that is sealed earns nothing before its round is played.
  const terms =
    refusal !== null || effects !== null
      ? environment.rewards(transition, seat)
      : Object.fromEntries(environment.terms.map((term) => [term, 0]))
  const potential = environment.potential(after, params, seat)
  const judgement = ownEnd && evaluateEnd(environment, { end: ownEnd, state: after, params, history, seat })
  const { published } = decided
  const played = { change, end, observation, terms, potential, refused: refusal, published, remember }
  if (!judgement && !environment.multiplayer) return played
  return { ...played, ...judgement, ...(environment.multiplayer && { seats: seatsPart() }) }

  /** Returns what the step means to the other seats, and to its own among them. */
  function seatsPart(): PlayedSeats {
    const { hasSuccess, verdictNames } = environment
    const others = playingSeats(record).filter((other) => other !== seat)
    const ends = bySeat([seat, ...others], (name) => endOf(name))
    const ending = [seat, ...others].filter((name) => ends[name] != null)
    const judgements = bySeat(ending, (name) =>
      evaluateEnd(environment, { end: ends[name] as EpisodeEnd, state: after, params, history, seat: name }),
    )
    const ended = ending.length > 0 && {
      ends: bySeat(ending, (name) => ends[name] as EpisodeEnd),
      ...(hasSuccess && { successes: bySeat(ending, (name) => judgements[name]?.success === true) }),
      ...(verdictNames.length > 0 && { verdicts: bySeat(ending, (name) => judgements[name]?.verdicts ?? {}) }),
    }
    return {
      turn: next,
      ...(refusal !== null || effects !== null
        ? { terms: bySeat(others, (name) => environment.rewards({ ...transition, end: ends[name] ?? null }, name)) }
        : { sealed: true }),
      ...ended,
      // A refused or sealed move shows nothing to others, nor that it was made.
      views: bySeat(
        others.filter((name) => ending.includes(name) || (effects !== null && next.includes(name))),
        (name) => environment.observe(after, params, name),
      ),
      ...(effects && Object.keys(effects.messages).length > 0 && { sent: effects.messages }),
    }
  }
}

function remembered(environment: EnvironmentDefinition, seat: string, action: Action, { refusal, text }: Decided) {
  const call = { tool: action.tool, arguments: action.arguments }
  if (environment.history === 'calls') return { seat, ...call, refused: refusal }
  return { ...(environment.multiplayer && { seat }), ...call, said: text }
}

function sessionEnd({ record, truncation: limit }: RulesTurn, { effects, truncation }: Decided): EpisodeEnd | null {
  const { ended = null, left = {} } = effects ?? {}
  if (ended !== null) return { kind: 'terminated', reason: ended }
  if (Object.keys(left).length > 0 && playingSeats(record).every((seat) => left[seat] !== undefined))
    return { kind: 'terminated', reason: 'all-left' }
  if (record.end) return record.end
  const reason = truncation ?? limit
  return reason && { kind: 'truncated', reason }
}

function nextTurn(
  environment: EnvironmentDefinition,
  { record, seat }: RulesTurn,
  { refusal, effects, waiting }: Decided,
  after: SessionState,
): readonly string[] {
  if (!environment.multiplayer) return environment.seats
  if (refusal) return record.turn ?? []
  if (!effects) return (record.turn ?? []).filter((other) => other !== seat)
  const playing = playingSeats(record).filter((other) => effects.left[other] === undefined)
  const next = (waiting ?? environment.turn(after, record.params)).filter((other) => playing.includes(other))
  if (next.length > 0) return next
  throw rulesFailed(
    `After this step of ${environment.name} no seat that plays is in turn, so that the episode would never go on. Let \`turn\` name one of ${playing.join(', ')}, or call end(…).`,
  )
}

export function evaluateEnd(
  environment: EnvironmentDefinition,
  { end, state, params, history, seat }: EndedEpisode,
): Judgement {
  const { hasSuccess, verdictNames } = environment
  const final = { end, state, params, calls: callsOf(environment, history) }
  return {
    ...(hasSuccess && { success: environment.success(final, seat) === true }),
    ...(verdictNames.length > 0 && { verdicts: environment.verdicts(final, seat) }),
  }
}

function callsOf({ history }: EnvironmentDefinition, remembered: History): readonly Call[] {
  return history === 'calls' ? (remembered as readonly Call[]) : UNKEPT
}

/** In the place of calls that no session keeps: an empty list would say that nobody has called anything. */
const UNKEPT: readonly Call[] = new Proxy([], {
  get(_, key) {
    // An error may be written with all that it knows.
    if (key === 'toJSON') return () => undefined
    throw rulesFailed("`calls` is read, and no session keeps them: write `history: 'calls'` in the definition.")
  },
})
