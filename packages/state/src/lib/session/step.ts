import type {
  Action,
  EpisodeEnd,
  Json,
  JsonObject,
  LoggedStep,
  Observation,
  PublishedEvent,
  Refusal,
  RngState,
  SeatsReport,
  StepReport,
  Terms,
  Truncation,
} from '@episodic/protocol'
import { judgementOf } from '@episodic/protocol/internal'
import type { KeptState } from '../state/kept-state.ts'
import type { SessionState } from '../state/session-state.ts'
import { StateError } from '../state-error.ts'
import { appendHistory, type HistoryBounds } from './history.ts'
import { episodeEnded, fenced, notYourTurn, stateLost } from './session-errors.ts'
import type { SeatRecord, SessionRecord } from './session-record.ts'

// The step protocol, without I/O: what a step means to a session, the turn that the rules play, and the next record.

export interface StepRequest {
  readonly seat: string
  /** How many answers of the seat the caller has received. If omitted, the step is an ordinary at-most-once call. */
  readonly seq?: number | undefined
  /** The epoch that the caller holds. Default: that of the session's holder. */
  readonly epoch?: number | undefined
}

/**
 * `play`: it is the next step; if an outside event has ended the episode, the step only reports that end. `replay`: it
 * is the last answered step again, which is in the step log at `revision`. With the same action it is a retry, with
 * another one a mistake.
 */
export type StepVerdict = { readonly kind: 'play' } | { readonly kind: 'replay'; readonly revision: number }

/**
 * Decides what a step means to a session, from the record alone.
 *
 * One stored answer for each seat is enough to settle every retry, because a seat has one step in flight. A caller
 * counts the answers that it received, and has an epoch that it received: if either is ahead of the record, the store
 * has lost an answered step. Throws `fenced`, `seq-conflict` and `state-lost` (with `details.expected` if the `seq` was
 * wrong), `episode-ended`, or `not-your-turn`.
 */
export function decideStep(record: SessionRecord, request: StepRequest): StepVerdict {
  const seat = seatOf(record, request.seat)
  if (request.epoch !== undefined && request.epoch !== record.epoch)
    throw request.epoch < record.epoch
      ? fenced()
      : stateLost(`epoch ${request.epoch} was issued, and the store holds ${record.epoch}`)
  if (request.seq !== undefined && request.seq > seat.seq)
    throw stateLost(`${request.seq} steps were answered, and the store holds ${seat.seq}`, { expected: seat.seq })
  if (request.seq !== undefined && request.seq !== seat.seq) {
    const { last } = seat
    if (request.seq !== seat.seq - 1 || last === null)
      throw new StateError(
        'seq-conflict',
        `Step ${request.seq} is not the next one: ${seat.seq} steps are answered. Send seq ${seat.seq}.`,
        { details: { expected: seat.seq } },
      )
    return { kind: 'replay', revision: last }
  }
  if (record.end && !isEndUnreported(record)) throw episodeEnded(record.end)
  if (seat.end) throw episodeEnded(seat.end)
  if (record.turn && !record.turn.includes(request.seat)) throw notYourTurn(record.turn, record.revision)
  return { kind: 'play' }
}

/** Throws `log-full` if the step log of a session has reached `bound` bytes, so that no further step may be played. */
export function assertLogRoom({ logBytes }: SessionRecord, bound: number): void {
  if (logBytes < bound) return
  throw new StateError(
    'log-full',
    `The step log of this session has ${logBytes} bytes and its limit is ${bound}, so no further step is played. Open a new session, or have the server's limit of log bytes raised.`,
    { details: { limit: bound } },
  )
}

/** A change of the world by the rules. */
export interface Change {
  readonly state: SessionState
  readonly rng: RngState
  readonly now: number
}

/** The outcome of one action by the rules. */
export interface Played {
  /** `null` if the world is unchanged: a refused step. */
  readonly change: Change | null
  readonly end: EpisodeEnd | null
  readonly observation: Observation
  readonly terms: { readonly [name: string]: number }
  readonly potential: number | null
  /** Whether the episode succeeded, if it has ended and the world defines success. */
  readonly success?: boolean | undefined
  /** The further verdicts on it, likewise. */
  readonly verdicts?: { readonly [name: string]: boolean } | undefined
  readonly refused: Refusal | null
  /** The events that the rules published during the step, oldest first. They are applied already. */
  readonly published?: readonly PublishedEvent[] | undefined
  /** The entry for the record's history, if the session keeps one. */
  readonly remember?: JsonObject | undefined
  /** What the step meant to the other seats; omitted if there is one seat. */
  readonly seats?: PlayedSeats | undefined
}

/** What a step meant to the other seats, without what others' steps meant to the seat that acted. */
export type PlayedSeats = Omit<SeatsReport, 'due' | 'messages'>

/** The input of the rules. */
export interface Turn {
  readonly seat: string
  readonly record: SessionRecord
  /** A copy of its state to edit; discarded unless it is returned in a {@link Change}. */
  readonly draft: SessionState
  /** The limit that this step reaches, or that was reached before it; `null` for none. */
  readonly truncation: Truncation | null
  /** What was prepared outside for this step; omitted if nothing was. */
  readonly prepared?: Json | undefined
}

/** The step to play and its circumstances. `now` is real time, in milliseconds since 1970. */
export interface StepSetting extends Pick<Turn, 'seat' | 'prepared'> {
  readonly action: Action
  readonly now: number
  readonly history: HistoryBounds | null
  /** Real time at which a prepared step arrived, which counts for the limit of time. Default: `now`. */
  readonly arrived?: number | undefined
}

/** The record after a step, whose log does not count the step yet, and the step as it is logged. */
export interface Stepped {
  readonly next: SessionRecord & { logBytes: number }
  readonly step: LoggedStep
}

/** Returns what the rules get for the next step of a seat. `draft` is a copy of the record's state. */
export function turnOf(record: SessionRecord, draft: SessionState, setting: StepSetting): Turn {
  const { seat, now, prepared, arrived = now } = setting
  return { seat, record, draft, truncation: truncationOf(record, seatOf(record, seat).seq + 1, arrived), prepared }
}

/**
 * Returns the record after a step that the rules have played, and the entry for the step log. `kept` is the state that
 * they have left; a step that left the world as it was keeps the very same one.
 */
export function recordStep(record: SessionRecord, setting: StepSetting, played: Played, kept: KeptState): Stepped {
  const { seat, action, now, prepared } = setting
  const { change, observation, success, verdicts, published, remember, seats } = played
  const { outside, effect } = record
  const seq = seatOf(record, seat).seq + 1
  const revision = record.revision + 1
  const moved = { seq, last: revision }
  const next: Writable<SessionRecord> = {
    ...record,
    state: kept.state,
    end: played.end,
    revision,
    touchedAt: now,
    seats: seats ? nextSeats(record, seat, moved, seats) : { ...record.seats, [seat]: moved },
  }
  if (change) {
    next.rng = change.rng
    next.now = change.now
  }
  if (seats) next.turn = seats.turn
  // A refused or sealed move passes the turn to nobody, so its time goes on.
  if (record.limits.turnSeconds !== undefined && change && !seats?.sealed) next.turnedAt = now
  if (setting.history && remember) next.history = appendHistory(record.history, remember, setting.history)
  if (outside) next.outside = { pending: [], known: outside.known }
  if (effect?.seat === seat) next.effect = undefined
  const report: Writable<Omit<StepReport, 'stateHash'>> & { stateHash?: string } = {
    seq,
    revision,
    terms: played.terms,
    potential: played.potential,
    end: seats?.ends?.[seat] ?? played.end,
    refused: played.refused,
  }
  if (success !== undefined) report.success = success
  if (verdicts) report.verdicts = verdicts
  if (seats) report.seats = seatsReport(seatOf(record, seat), seats)
  if (outside && outside.pending.length > 0) report.events = outside.pending
  if (prepared !== undefined) report.prepared = prepared
  report.stateHash = kept.hash(next)
  const step: Writable<LoggedStep> = { seat, action, observation, report: report as StepReport }
  if (published) step.published = published
  return { next, step }
}

type Writable<T> = { -readonly [Part in keyof T]: T[Part] }

function nextSeats(
  { seats }: SessionRecord,
  mover: string,
  moved: SeatRecord,
  { terms = {}, ends = {}, successes = {}, verdicts = {}, sent = {} }: PlayedSeats,
): SessionRecord['seats'] {
  const next: Record<string, SeatRecord> = {}
  for (const [name, seat] of Object.entries(seats)) {
    const kept = name === mover ? moved : withDue(seat, terms[name], sent[name])
    const end = ends[name]
    const judgement = judgementOf({ success: successes[name], verdicts: verdicts[name] })
    next[name] = end ? { ...kept, end, ...judgement } : kept
  }
  return next
}

/** Texts that are kept for a seat until its next step; older ones are dropped. */
const MOST_MESSAGES = 64

function withDue(seat: SeatRecord, terms: Terms = {}, messages: readonly string[] = []): SeatRecord {
  const due = { ...seat.due }
  for (const [term, value] of Object.entries(terms)) if (value !== 0) due[term] = (due[term] ?? 0) + value
  return withMessages(Object.keys(due).length > 0 ? { ...seat, due } : seat, messages)
}

export function withMessages(seat: SeatRecord, texts: readonly string[]): SeatRecord {
  return texts.length === 0 ? seat : { ...seat, messages: [...(seat.messages ?? []), ...texts].slice(-MOST_MESSAGES) }
}

function seatsReport({ due, messages }: SeatRecord, seats: PlayedSeats): SeatsReport {
  return { ...seats, ...(due && { due }), ...(messages && { messages }) }
}

/** Returns the limit that step `seq` of a seat reaches, or that was reached before it arrived. */
export function truncationOf(record: SessionRecord, seq: number, now: number): Truncation | null {
  const { seconds, steps } = record.limits
  if (seconds !== null && now - record.createdAt >= seconds * 1_000) return 'time-limit'
  return seq >= steps ? 'step-limit' : null
}

/** Whether an event has ended the episode and no step has reported that yet: the next step does, and is the last. */
export function isEndUnreported({ end, outside }: Pick<SessionRecord, 'end' | 'outside'>): boolean {
  return end?.kind === 'terminated' && outside?.pending.at(-1)?.end != null
}

/** Returns the record of a seat. Throws a `RangeError` for a seat that the session does not have. */
export function seatOf(record: SessionRecord, seat: string): SeatRecord {
  const found = Object.hasOwn(record.seats, seat) ? record.seats[seat] : undefined
  if (!found) throw new RangeError(`Session ${record.id} has no seat named ${seat}.`)
  return found
}

export function answeredIn(seats: { readonly [seat: string]: { readonly seq: number } }): number {
  return Object.values(seats).reduce((sum, { seq }) => sum + seq, 0)
}
