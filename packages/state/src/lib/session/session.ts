import {
  type Action,
  canonicalJson,
  contentId,
  type EpisodeEnd,
  type Json,
  type LoggedStep,
  type MethodResult,
  type OutsideEvent,
} from '@episodic/protocol'
import { StateError } from '../state-error.ts'
import type { SessionStore, StoredSession } from '../store/session-store.ts'
import { byteLength } from './byte-length.ts'
import { CallQueue } from './call-queue.ts'
import type { Clock } from './clock.ts'
import {
  assertLogRoom,
  decideStep,
  episodeEnded,
  fenced,
  outcomeUnknown,
  type StepRequest,
  type StepVerdict,
  seatOf,
} from './decide-step.ts'
import { HeldRecord, type Plan } from './held-record.ts'
import type { HistoryBounds } from './history.ts'
import { assertRoom, DEFAULT_EVENTS, findKnown, type Happened, recordEvent } from './outside.ts'
import { type Change, type Played, playStep, type Stepped, type Turn, truncationOf } from './play-step.ts'
import { decodeSession, encodeSession, type SessionRecord, type SessionState, storedBytes } from './session-record.ts'
import { encodeState, encodeStep } from './session-text.ts'
import { stateHash } from './state-hash.ts'

/** A step as it arrives, with what it does. */
export type Move = StepRequest & { readonly action: Action }

/** An answered step. */
export interface Answered {
  readonly step: LoggedStep
  /** The answer was given before, and this is the stored one. */
  readonly replayed: boolean
}

interface SessionOptions {
  readonly store: SessionStore
  readonly clock: Clock
  /** Kept history; `null` for none. */
  readonly history: HistoryBounds | null
  /** How many calls may wait for the session, the running one included. */
  readonly queue: number
  /**
   * How many outside events may come between two steps, and how many of the last ones are known again when they are published
   * once more. Default 256.
   */
  readonly events?: number
  /**
   * UTF-8 bytes of a step log from which on no further step is played. The last step may pass it, by the session's limit of
   * bytes for one answer. Default 67,108,864 (64 MiB).
   */
  readonly logBytes?: number
  /** UTF-8 bytes of the text of one answer. Default 262,144 (256 KiB). */
  readonly textBytes?: number
}

/** See {@link SessionOptions.logBytes}. */
export const DEFAULT_LOG_BYTES = 67_108_864

/** See {@link SessionOptions.textBytes}. */
export const DEFAULT_TEXT_BYTES = 262_144

/** How a step gets from outside what it is played with. */
export interface Preparation {
  /** It does something outside that may not be done twice. */
  readonly external: boolean
  /** Gets it, for a step on this record. Called once for a step at most, unless the step is sent again. */
  prepare(record: SessionRecord): Promise<Json>
}

/** What a step is played with that was prepared for it. */
interface PreparedStep {
  /** `undefined` where it needed nothing. */
  readonly value: Json | undefined
  /** Real time at which it came. */
  readonly arrived: number
}

/**
 * A session in play: runs its calls one at a time and commits each before it is answered.
 *
 * Several of these, in several processes, may hold the same session: what is true is in the store, the record held
 * here is a guess that saves a read, and a commit that finds another revision plays again on what is there now.
 * Two things end that: a later owner, who fences this holder, and a store that has gone back behind what was seen in it.
 */
export class Session {
  readonly #options: SessionOptions
  readonly #calls: CallQueue
  readonly #held: HeldRecord
  #epoch: number

  /** `record` is what `stored` says, for a caller that has read it already. */
  constructor(stored: StoredSession, options: SessionOptions, record = decodeSession(stored)) {
    this.#options = options
    this.#calls = new CallQueue(options.queue)
    this.#held = new HeldRecord(options.store, stored, record)
    this.#epoch = record.epoch
  }

  /** The record as it was last seen in the store. */
  get record(): SessionRecord {
    return this.#held.record
  }

  /** Whether a later owner has the session: whatever this holder does in its own name is `fenced` from now on. */
  get fenced(): boolean {
    return this.#held.record.epoch > this.#epoch
  }

  /** Whether a call is running or waiting. */
  get busy(): boolean {
    return this.#calls.busy
  }

  /** UTF-8 bytes that the store keeps for the session, its step log included. */
  get bytes(): number {
    return storedBytes(encodeSession(this.#held.record), this.#held.record)
  }

  /**
   * Applies one step exactly once, or gives the stored answer of one that was applied before.
   *
   * `play` is called with a draft; when it throws, the session is as it was and the error is passed on. It may be
   * called again, on a newer record, when another holder of the session commits in between. While a promise of it is
   * open, the session's other calls wait.
   *
   * `preparation` is asked what has to be got from outside, once the step is found to be the next: `play` gets that in its
   * turn, as often as it is called, and the log keeps it. One that is external is written down before it begins. Where that is
   * found of the same action again, it may have happened or not: the step is `outcome-unknown` until another is answered.
   *
   * A move that names no epoch is this holder's own, and is `fenced` once somebody else has taken the session over.
   * Throws what {@link decideStep} throws, `seq-reused`, `queue-full`, `too-large`, `log-full`, `not-json`, `action-invalid`,
   * `state-lost` where the store has gone back behind what was seen in it, and `session-not-found` once the session is gone.
   */
  step(move: Move, play: (turn: Turn) => Played | Promise<Played>, preparation?: () => Preparation): Promise<Answered> {
    const settle = (prepared?: PreparedStep) =>
      this.#held.settle(() => {
        const verdict = this.#decide(move)
        return verdict.kind === 'play' ? this.#planStep(move, play, prepared) : this.#planReplay(move, verdict.revision)
      })
    return this.#calls.run(() => (preparation ? this.#prepare(move, preparation).then(settle) : settle()))
  }

  /**
   * Applies an outside event exactly once, in order with the steps, and resolves with its outcome. For an event that was
   * applied before and is still known, resolves with the same outcome again.
   *
   * `apply` is called as `play` is in {@link step}. Throws `event-invalid`, `event-too-large`, `events-full`,
   * `episode-ended`, and what a commit throws.
   */
  publish(
    event: OutsideEvent,
    apply: (turn: Omit<Turn, 'truncation'>) => Happened | Promise<Happened>,
  ): Promise<MethodResult<'publish'>> {
    const { events: bound = DEFAULT_EVENTS, clock } = this.#options
    return this.#calls.run(() =>
      this.#held.settle<MethodResult<'publish'>>(() => {
        if (this.fenced) throw fenced()
        const record = this.#held.record
        const known = findKnown(record, event)
        if (known) {
          const { revision, end } = known
          return { write: null, answer: { revision, end, delivered: 'before' } }
        }
        if (record.end) throw episodeEnded(record.end)
        assertRoom(record, event, bound)
        const plan = (happened: Happened): Plan<MethodResult<'publish'>> => {
          const next = recordEvent(record, event, happened, { bound, now: clock.now() })
          const { revision, end } = next
          return { write: { next, stateText: this.#stateTextOf(next) }, answer: { revision, end, delivered: 'now' } }
        }
        const happened = apply({ record, draft: this.#draft() })
        return happened instanceof Promise ? happened.then(plan) : plan(happened)
      }),
    )
  }

  /**
   * Commits a change that is neither a step nor an outside event: the end that a budget or a closing makes.
   * `change` returns `null` to leave everything as it is, and may be called again as `play` may in {@link step}.
   */
  advance(
    change: (turn: { readonly record: SessionRecord; readonly draft: SessionState }) =>
      | (Partial<Change> & {
          readonly end?: EpisodeEnd
        })
      | null,
  ): Promise<SessionRecord> {
    return this.#calls.run(async () => {
      await this.#held.settle(() => {
        if (this.fenced) throw fenced()
        const record = this.#held.record
        const changed = change({ record, draft: this.#draft() })
        if (!changed) return { write: null, answer: null }
        const next = { ...record, ...changed, revision: record.revision + 1, touchedAt: this.#options.clock.now() }
        return { write: { next, stateText: this.#stateTextOf(next) }, answer: null }
      })
      return this.#held.record
    })
  }

  /**
   * Makes this holder the session's owner: raises the epoch, so that no former owner commits again, however long it
   * was away. The last holder to take over owns the session.
   */
  takeOver(): Promise<SessionRecord> {
    return this.#calls.run(async () => {
      this.#epoch = await this.#held.settle(() => {
        const { epoch, revision } = this.#held.record
        const next = {
          ...this.#held.record,
          epoch: epoch + 1,
          revision: revision + 1,
          touchedAt: this.#options.clock.now(),
        }
        return { write: { next, stateText: this.#held.stateText }, answer: next.epoch }
      })
      return this.#held.record
    })
  }

  /** Reads the record anew, for an answer that must not come from a guess. */
  refresh(): Promise<SessionRecord> {
    return this.#calls.run(async () => {
      await this.#held.refresh()
      return this.#held.record
    })
  }

  /** Reads the record anew, and its state as the text that the store has: for what begins where it stands. */
  moment(): Promise<{ readonly record: SessionRecord; readonly stateText: string }> {
    return this.#calls.run(async () => {
      await this.#held.refresh()
      return { record: this.#held.record, stateText: this.#held.stateText }
    })
  }

  #decide({ seat, seq, epoch = this.#epoch }: Move): StepVerdict {
    const { record } = this.#held
    const verdict = decideStep(record, { seat, seq, epoch })
    // A step that only reports the end is the last one, and is still played.
    if (verdict.kind === 'play' && !record.end) assertLogRoom(record, this.#options.logBytes ?? DEFAULT_LOG_BYTES)
    return verdict
  }

  /** Gets from outside what a step is played with. */
  async #prepare(move: Move, preparationOf: () => Preparation): Promise<PreparedStep> {
    const { seat, action } = move
    const arrived = this.#options.clock.now()
    const preparation = await this.#held.settle<Preparation | null>(() => {
      const record = this.#held.record
      const plays = this.#decide(move).kind === 'play' && !record.end
      const late = plays && truncationOf(record, seatOf(record, seat).seq + 1, arrived) === 'time-limit'
      const preparation = plays && !late ? preparationOf() : null
      if (!preparation?.external) return { write: null, answer: preparation }
      const effect = { seat, action: contentId(canonicalJson({ ...action })) }
      if (record.effect?.seat === seat && record.effect.action === effect.action) throw outcomeUnknown(action)
      const next = { ...record, effect, revision: record.revision + 1, touchedAt: this.#options.clock.now() }
      return { write: { next, stateText: this.#held.stateText }, answer: preparation }
    })
    return { value: await preparation?.prepare(this.#held.record), arrived }
  }

  #planStep(
    { seat, action }: Move,
    play: (turn: Turn) => Played | Promise<Played>,
    prepared?: PreparedStep,
  ): Plan<Answered> | Promise<Plan<Answered>> {
    const { clock, history } = this.#options
    const setting = {
      seat,
      action,
      draft: this.#draft(),
      now: clock.now(),
      history,
      prepared: prepared?.value,
      arrived: prepared?.arrived,
    }
    const stepped = playStep(this.#held.record, setting, play)
    return stepped instanceof Promise ? stepped.then((late) => this.#planStepped(late)) : this.#planStepped(stepped)
  }

  #planStepped({ next, step: unhashed }: Stepped): Plan<Answered> {
    const stateText = this.#stateTextOf(next)
    const step = { ...unhashed, report: { ...unhashed.report, stateHash: stateHash(stateText, next) } }
    const text = encodeStep(step, next.limits, this.#options.textBytes ?? DEFAULT_TEXT_BYTES)
    const counted = { ...next, logBytes: next.logBytes + byteLength(text) }
    const entry = { revision: next.revision, text }
    return { write: { next: counted, stateText, entry }, answer: { step, replayed: false } }
  }

  /** Plans to give the stored answer of a step that was answered before, if this is that step again. */
  async #planReplay({ seq, action }: Move, revision: number): Promise<Plan<Answered>> {
    const step = await this.#held.readStep(revision)
    if (canonicalJson({ ...step.action }) === canonicalJson({ ...action }))
      return { write: null, answer: { step, replayed: true } }
    const { seq: expected } = step.report
    throw new StateError(
      'seq-reused',
      `Step ${seq} was answered already, for another action. Send seq ${expected} for a new step.`,
      { details: { expected } },
    )
  }

  #draft(): SessionState {
    return JSON.parse(this.#held.stateText)
  }

  #stateTextOf(next: SessionRecord): string {
    const { record, stateText } = this.#held
    return next.state === record.state ? stateText : encodeState(next.state, next.limits)
  }
}
