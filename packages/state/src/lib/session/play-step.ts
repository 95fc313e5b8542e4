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
  StepReport,
  Truncation,
} from '@episodic/protocol'
import { seatOf } from './decide-step.ts'
import { appendHistory, type HistoryBounds } from './history.ts'
import type { SessionRecord, SessionState } from './session-record.ts'

/** What the rules made of a draft. */
export interface Change {
  readonly state: SessionState
  readonly rng: RngState
  readonly now: number
}

/** What playing one action came to. */
export interface Played {
  /** `null` leaves the world as it was: a refused step. */
  readonly change: Change | null
  readonly end: EpisodeEnd | null
  readonly observation: Observation
  readonly terms: { readonly [name: string]: number }
  readonly potential: number | null
  /** Whether the episode succeeded, where it has ended and the world defines success. */
  readonly success?: boolean | undefined
  readonly refused: Refusal | null
  /** The events that the rules published in the midst of it, oldest first, where there are any: applied already. */
  readonly published?: readonly PublishedEvent[] | undefined
  /** Remembered in the record's history, where the session keeps one. */
  readonly remember?: JsonObject | undefined
}

/** What the rules get to work with. */
export interface Turn {
  /** The record before the step. */
  readonly record: SessionRecord
  /** A copy of its state to edit; thrown away unless it is returned in a {@link Change}. */
  readonly draft: SessionState
  /** The budget that this step uses up, or that had run out before it; `null` while there is more. */
  readonly truncation: Truncation | null
  /** What was prepared outside for this step; left out where nothing was. */
  readonly prepared?: Json | undefined
}

/** The step to play and what it is played under. `now` is real time, in milliseconds since 1970. */
export interface StepSetting {
  readonly seat: string
  readonly action: Action
  readonly draft: SessionState
  readonly now: number
  readonly history: HistoryBounds | null
  /** See {@link Turn}. */
  readonly prepared?: Json | undefined
  /** Real time at which the step came, where it had to be prepared since: its session's time is counted to there. Default: `now`. */
  readonly arrived?: number | undefined
}

/** A step as it is logged, without the hash of the state, which is computed when the state is serialized. */
export type UnhashedStep = Omit<LoggedStep, 'report'> & { readonly report: Omit<StepReport, 'stateHash'> }

/** The record after a step, and the step. */
export interface Stepped {
  readonly next: SessionRecord
  readonly step: UnhashedStep
}

/**
 * Plays one step on a record and returns the record after it and the entry for the step log. Pure where `play` is.
 * A step that left the world as it was keeps the very same `state`. Rules that play at once are answered at once:
 * a promise comes back only where `play` gave one.
 */
export function playStep(record: SessionRecord, setting: StepSetting, play: (turn: Turn) => Played): Stepped
export function playStep(
  record: SessionRecord,
  setting: StepSetting,
  play: (turn: Turn) => Played | Promise<Played>,
): Stepped | Promise<Stepped>
export function playStep(
  record: SessionRecord,
  setting: StepSetting,
  play: (turn: Turn) => Played | Promise<Played>,
): Stepped | Promise<Stepped> {
  const { seat, action, now, prepared, arrived = now } = setting
  const { outside, effect } = record
  const seq = seatOf(record, seat).seq + 1
  const revision = record.revision + 1
  const played = play({ record, draft: setting.draft, truncation: truncationOf(record, seq, arrived), prepared })
  return played instanceof Promise ? played.then(settle) : settle(played)

  function settle({
    change,
    end,
    observation,
    terms,
    potential,
    success,
    refused,
    published,
    remember,
  }: Played): Stepped {
    const next: SessionRecord = {
      ...record,
      state: change ? change.state : record.state,
      rng: change ? change.rng : record.rng,
      now: change ? change.now : record.now,
      end,
      revision,
      touchedAt: now,
      seats: { ...record.seats, [seat]: { seq, last: revision } },
      history: setting.history && remember ? appendHistory(record.history, remember, setting.history) : record.history,
    }
    const report = { seq, revision, terms, potential, end, refused, ...(success !== undefined && { success }) }
    // Nearly every step is played with nothing from outside.
    if (!outside && !effect && prepared === undefined && !published)
      return { next, step: { seat, action, observation, report } }
    const events = outside && outside.pending.length > 0 ? { events: outside.pending } : {}
    return {
      next: {
        ...next,
        ...(outside && { outside: { pending: [], known: outside.known } }),
        ...(effect?.seat === seat && { effect: undefined }),
      },
      step: {
        seat,
        action,
        observation,
        report: { ...report, ...events, ...(prepared !== undefined && { prepared }) },
        ...(published && { published }),
      },
    }
  }
}

/** The budget that step `seq` of a seat uses up, or that had run out before it came. */
export function truncationOf(record: SessionRecord, seq: number, now: number): Truncation | null {
  const { seconds, steps } = record.limits
  if (seconds !== null && now - record.createdAt >= seconds * 1_000) return 'time-limit'
  return seq >= steps ? 'step-limit' : null
}
