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
import { KeptState } from '../state/kept-state.ts'
import type { SessionState } from '../state/session-state.ts'
import { byteLength, encodeStep } from '../state/state-text.ts'
import { StateError, storeInvalid } from '../state-error.ts'
import type { LogEntry, SessionStore } from '../store/session-store.ts'
import type { Clock } from './clock.ts'
import { type HeldSession, holdSession, readState, storeSession } from './held-session.ts'
import type { HistoryBounds } from './history.ts'
import { assertRoom, DEFAULT_EVENTS, findKnown, type Happened, recordEvent } from './outside.ts'
import { assertMovedOn, episodeEnded, fenced, outcomeUnknown, sessionNotFound } from './session-errors.ts'
import {
  decodeMoment,
  encodeMoment,
  encodeProgress,
  encodeSession,
  type Moment,
  type SessionRecord,
  storedBytes,
} from './session-record.ts'
import {
  answeredIn,
  assertLogRoom,
  type Change,
  decideStep,
  type Played,
  recordStep,
  type StepRequest,
  type StepSetting,
  type StepVerdict,
  seatOf,
  type Turn,
  truncationOf,
  turnOf,
} from './step.ts'

export type Move = StepRequest & { readonly action: Action }

/** An answered step. */
export interface Answered {
  readonly step: LoggedStep
  /** The answer was given before, and this is the stored one. */
  readonly replayed: boolean
}

/** An answered step with what its rules returned. */
export interface PlayedStep<P extends Played> extends Answered {
  /** `null` for a stored answer. */
  readonly played: P | null
}

interface SessionOptions {
  readonly store: SessionStore
  readonly clock: Clock
  /** Kept history; `null` for none. */
  readonly history: HistoryBounds | null
  /** Most calls that may wait for the session, the running one included. */
  readonly queue: number
  /** Most outside events between two steps; so many last ones are recognised when published again. Default 256. */
  readonly events?: number
  /**
   * UTF-8 bytes of a step log from which on no further step is played. The last step may exceed it by the session's
   * limit of bytes for one answer. Default 67,108,864 (64 MiB).
   */
  readonly logBytes?: number
  /** UTF-8 bytes of the text of one answer. Default 262,144 (256 KiB). */
  readonly textBytes?: number
}

export const DEFAULT_LOG_BYTES = 67_108_864

export const DEFAULT_TEXT_BYTES = 262_144

/** The preparation of a step: work outside the session before the rules play it. */
export interface Preparation {
  readonly external: boolean
  /** Prepares a step on this record. Called at most once for a step, unless the step is sent again. */
  prepare(record: SessionRecord): Promise<Json>
}

interface PreparedStep {
  /** `undefined` if nothing was needed. */
  readonly prepared: Json | undefined
  /** Real time at which the step arrived; `undefined` for now. */
  readonly arrived: number | undefined
}

const UNPREPARED: PreparedStep = { prepared: undefined, arrived: undefined }

/** What a call does to the record that it has seen: its answer, and the write that has to come first. */
interface Plan<T> {
  readonly write: Write | null
  readonly answer: T
}

/** A plan that was made on a record, and whether it is committed. */
interface Begun<T> {
  readonly guess: SessionRecord
  /** A promise that writes nothing for a stored answer, which is read; `null` if `failure` was thrown. */
  readonly planned: AtOnce<Plan<T>> | null
  readonly failure: unknown
  readonly committed: AtOnce<boolean>
}

type AtOnce<T> = T | Promise<T>

interface Write {
  readonly next: SessionRecord
  readonly kept: KeptState
  readonly entry?: LogEntry
}

/** How often a call is planned again when others commit in between. Each try means that another one succeeded. */
const COMMIT_TRIES = 32

function bytesOf(pages: KeptState['newPages']): number {
  return pages.reduce((sum, { text }) => sum + byteLength(text), 0)
}

/**
 * A session in play: runs its calls one at a time and commits each before it is answered.
 *
 * Several processes may hold the same session at once. The store has the truth. The record held here is a guess that
 * saves a read: a call whose commit finds another revision plays again on the stored record. A holder stops for good if
 * a later owner fences it, or if the store has lost commits that were seen in it.
 */
export class Session {
  readonly #options: Omit<SessionOptions, 'history'>
  readonly #history: HistoryBounds | null
  #epoch: number
  #record: SessionRecord
  #kept: KeptState
  readonly #pools: readonly string[]
  #running = false
  /** Starts the waiting calls, in the order of their arrival; `null` until a call has to wait. */
  #waiting: (() => void)[] | null = null

  /** Stores a new session. Resolves with `null` if there is one of its id. Throws `not-json` and `too-large`. */
  static async create(record: SessionRecord, options: SessionOptions): Promise<Session | null> {
    const kept = KeptState.start(record.state, record.limits)
    const held = await storeSession(options.store, { record: { ...record, state: kept.state }, kept, pools: [] })
    return held && new Session(held, options, options.history)
  }

  /** Reads a session from the store. Resolves with `null` if there is none of this id. Throws `store-invalid`. */
  static async read(id: string, options: SessionOptions): Promise<Session | null> {
    const stored = await options.store.read(id)
    return stored && new Session(await holdSession(options.store, stored), options, options.history)
  }

  /** @internal */
  constructor(held: HeldSession, options: Omit<SessionOptions, 'history'>, history: HistoryBounds | null) {
    const { record, kept, pools } = held
    this.#options = options
    this.#history = history
    this.#epoch = record.epoch
    this.#record = record
    this.#kept = kept
    this.#pools = pools
  }

  get record(): SessionRecord {
    return this.#record
  }

  /** Whether a later owner has the session, so that the calls of this holder are `fenced` from now on. */
  get fenced(): boolean {
    return this.#record.epoch > this.#epoch
  }

  get busy(): boolean {
    return this.#running
  }

  /** UTF-8 bytes that the store keeps for the session, its step log included. */
  get bytes(): number {
    return storedBytes(encodeSession(this.#record, this.#kept.text), this.#record)
  }

  /**
   * Applies one step exactly once, or returns the stored answer of one that was applied before: without a promise if
   * nothing has to be waited for, as in nearly every step of a session in memory.
   *
   * `play` is called with a draft. If it throws, the session is unchanged and the error is passed on. It is called
   * again, on a newer record, if another holder of the session commits in between.
   *
   * `preparation` is called once the step is found to be the next one, with whether it comes too late for the limit of
   * time; `null` prepares nothing. `play` gets its result in the turn, every time it is called, and the log keeps it.
   * An external effect is stored before it starts. If one of the same action is stored already, it may have happened or
   * not: the step rejects with `outcome-unknown` until another step of the seat is answered.
   *
   * A move without an epoch has this holder's own, and is `fenced` once another holder has taken the session over.
   * Rejects with what {@link decideStep} throws, `seq-reused`, `queue-full`, `too-large`, `log-full`, `not-json`,
   * `action-invalid`, `state-lost` if the store has lost commits that were seen in it, and `session-not-found` if the
   * session is gone.
   */
  step<P extends Played>(
    move: Move,
    play: (turn: Turn) => P,
    preparation?: (late: boolean) => Preparation | null,
  ): AtOnce<PlayedStep<P>> {
    const settle = ({ prepared, arrived }: PreparedStep) =>
      this.#settle<PlayedStep<P>>(() => {
        const { seat, action } = move
        const verdict = this.#decide(move)
        if (verdict.kind === 'replay') return this.#planReplay(move, verdict.revision)
        const setting = { seat, action, now: this.#options.clock.now(), history: this.#history, prepared, arrived }
        const played = play(turnOf(this.#record, this.#kept.draft(), setting))
        return this.#planStep(setting, played)
      })
    return this.#inTurn(() => (preparation ? this.#prepare(move, preparation).then(settle) : settle(UNPREPARED)))
  }

  /**
   * Applies an outside event exactly once, in order with the steps, and resolves with its outcome. An event that was
   * applied before and is still remembered has the same outcome again.
   *
   * `apply` is called as `play` is in {@link step}. Throws `event-invalid`, `event-too-large`, `events-full`,
   * `episode-ended`, and what a commit throws.
   */
  publish(
    event: OutsideEvent,
    apply: (turn: Pick<Turn, 'record' | 'draft'>) => Happened,
  ): Promise<MethodResult<'publish'>> {
    const { events: bound = DEFAULT_EVENTS, clock } = this.#options
    return this.#inTurn(async () =>
      this.#settle<MethodResult<'publish'>>(() => {
        if (this.fenced) throw fenced()
        const record = this.#record
        const known = findKnown(record, event)
        if (known) {
          const { revision, end } = known
          return { write: null, answer: { revision, end, delivered: 'before' } }
        }
        if (record.end) throw episodeEnded(record.end)
        assertRoom(record, event, bound)
        const happened = apply({ record, draft: this.#kept.draft() })
        const write = this.#keep(recordEvent(record, event, happened, { bound, now: clock.now() }))
        const { revision, end } = write.next
        return { write, answer: { revision, end, delivered: 'now' } }
      }),
    )
  }

  /** Commits a change that is no step, such as closing; `null` for none. May be called again as in {@link step}. */
  advance(
    change: (turn: {
      readonly record: SessionRecord
      readonly draft: SessionState
    }) => (Partial<Change> & { readonly end?: EpisodeEnd; readonly players?: SessionRecord['players'] }) | null,
  ): Promise<SessionRecord> {
    return this.#inTurn(async () => {
      await this.#settle(() => {
        if (this.fenced) throw fenced()
        const record = this.#record
        const changed = change({ record, draft: this.#kept.draft() })
        if (!changed) return { write: null, answer: null }
        const next = { ...record, ...changed, revision: record.revision + 1, touchedAt: this.#options.clock.now() }
        return { write: this.#keep(next), answer: null }
      })
      return this.#record
    })
  }

  /** Makes this holder the session's owner: raises the epoch, so that no former owner can commit again. */
  takeOver(): Promise<SessionRecord> {
    return this.#inTurn(async () => {
      this.#epoch = await this.#settle(() => {
        const { epoch, revision } = this.#record
        const next = { ...this.#record, epoch: epoch + 1, revision: revision + 1, touchedAt: this.#options.clock.now() }
        return { write: { next, kept: this.#kept }, answer: next.epoch }
      })
      return this.#record
    })
  }

  refresh(): Promise<SessionRecord> {
    return this.#inTurn(async () => {
      await this.#refresh()
      return this.#record
    })
  }

  readWithState(): Promise<HeldSession> {
    return this.#inTurn(async () => {
      await this.#refresh()
      return { record: this.#record, kept: this.#kept, pools: this.#pools }
    })
  }

  /**
   * Reads the record as it was after so many answered steps of all seats together, with its state. Resolves with `null`
   * if the step log does not have it: the state was small, or was kept by an older release.
   */
  async readAfter(steps: number): Promise<HeldSession | null> {
    const { store } = this.#options
    const { id, base, seats, revision } = this.#record
    // Each step has a revision, and so may what happened between two steps.
    let low = steps - answeredIn(base?.seats ?? {})
    let high = revision - (answeredIn(seats) - steps)
    for (let guess = low; low <= high; guess = (low + high) >> 1) {
      const [entry] = await store.readLog(id, { after: guess - 1, limit: 1 })
      if (!entry) {
        high = guess - 1
        continue
      }
      const moment = decodeMoment(entry.state)
      if (!moment) return null
      const answered = answeredIn(moment.seats)
      if (answered === steps) return this.#heldAt(entry, moment)
      if (answered < steps) low = entry.revision + 1
      else high = guess - 1
    }
    return null
  }

  /** Returns `null` for a state that is not the one that was answered. */
  async #heldAt({ revision, text, state }: LogEntry, moment: Moment): Promise<HeldSession | null> {
    const { turn, outside } = moment
    const kept = await readState(this.#options.store, this.#record.id, state as string, this.#kept)
    if (kept.hash(moment) !== (JSON.parse(text) as LoggedStep).report.stateHash) return null
    const record = { ...this.#record, ...moment, turn, outside, effect: undefined, revision, state: kept.state }
    return { record, kept, pools: this.#pools }
  }

  #decide({ seat, seq, epoch = this.#epoch }: Move): StepVerdict {
    const verdict = decideStep(this.#record, { seat, seq, epoch })
    // The step that reports an end by an event is still played, as the last one.
    if (verdict.kind === 'play' && !this.#record.end)
      assertLogRoom(this.#record, this.#options.logBytes ?? DEFAULT_LOG_BYTES)
    return verdict
  }

  async #prepare(move: Move, preparationOf: (late: boolean) => Preparation | null): Promise<PreparedStep> {
    const { seat, action } = move
    const arrived = this.#options.clock.now()
    const preparation = await this.#settle<Preparation | null>(() => {
      const record = this.#record
      const plays = this.#decide(move).kind === 'play' && !record.end
      const late = plays && truncationOf(record, seatOf(record, seat).seq + 1, arrived) === 'time-limit'
      const preparation = plays ? preparationOf(late) : null
      if (!preparation?.external) return { write: null, answer: preparation }
      const effect = { seat, action: contentId(canonicalJson({ ...action })) }
      if (record.effect?.seat === seat && record.effect.action === effect.action) throw outcomeUnknown(action)
      const next = { ...record, effect, revision: record.revision + 1, touchedAt: this.#options.clock.now() }
      return { write: { next, kept: this.#kept }, answer: preparation }
    })
    return { prepared: await preparation?.prepare(this.#record), arrived }
  }

  #planStep<P extends Played>(setting: StepSetting, played: P): Plan<PlayedStep<P>> {
    const record = this.#record
    const kept = this.#kept.next(played.change ? played.change.state : record.state, record.limits)
    const { next, step } = recordStep(record, setting, played, kept)
    const { revision } = next
    const text = encodeStep(step, record.limits, this.#options.textBytes ?? DEFAULT_TEXT_BYTES)
    next.logBytes += byteLength(text)
    const answer = { step, replayed: false, played }
    if (!kept.isLarge) return { write: { next, kept, entry: { revision, text } }, answer }
    const state = encodeMoment(next, kept.text)
    next.logBytes += byteLength(state) + bytesOf(kept.newPages)
    return { write: { next, kept, entry: { revision, text, state } }, answer }
  }

  /** Plans to return the stored answer of a step. Throws `seq-reused` if this is another step. */
  async #planReplay({ seq, action }: Move, revision: number): Promise<Plan<PlayedStep<never>>> {
    const step = await this.#readStep(revision)
    if (canonicalJson({ ...step.action }) === canonicalJson({ ...action }))
      return { write: null, answer: { step, replayed: true, played: null } }
    const { seq: expected } = step.report
    throw new StateError(
      'seq-reused',
      `Step ${seq} was answered already, for another action. Send seq ${expected} for a new step.`,
      { details: { expected } },
    )
  }

  #keep(next: SessionRecord): { readonly next: SessionRecord; readonly kept: KeptState } {
    const kept = this.#kept.next(next.state, next.limits)
    if (!kept.isLarge) return { next: kept.state === next.state ? next : { ...next, state: kept.state }, kept }
    return { next: { ...next, state: kept.state, logBytes: next.logBytes + bytesOf(kept.newPages) }, kept }
  }

  /**
   * Plans on the record held here until a plan is valid. A plan that writes is valid if the store accepts the commit,
   * because the store compares revisions. Any other plan, a throw included, is valid if the store has nothing newer.
   */
  #settle<T>(plan: () => AtOnce<Plan<T>>): AtOnce<T> {
    const begun = this.#begin(plan)
    // An await costs a turn, and a store in memory commits nearly every plan at once.
    return begun.committed === true ? (begun.planned as Plan<T>).answer : this.#settleLater(plan, begun)
  }

  #begin<T>(plan: () => AtOnce<Plan<T>>): Begun<T> {
    const guess = this.#record
    let planned: AtOnce<Plan<T>>
    try {
      planned = plan()
    } catch (failure) {
      return { guess, planned: null, failure, committed: false }
    }
    const committed = !(planned instanceof Promise) && planned.write ? this.#commit(planned.write) : false
    return { guess, planned, failure: null, committed }
  }

  async #settleLater<T>(plan: () => AtOnce<Plan<T>>, first: Begun<T>): Promise<T> {
    let begun = first
    for (let tries = 1; ; tries++) {
      let planned: Plan<T> | null = null
      let { failure } = begun
      try {
        planned = await begun.planned
      } catch (cause) {
        failure = cause
      }
      if (planned && (await begun.committed)) return planned.answer
      await this.#refresh()
      if (this.#record === begun.guess) {
        if (!planned) throw failure
        if (!planned.write) return planned.answer
      }
      if (tries === COMMIT_TRIES) break
      begun = this.#begin(plan)
    }
    throw new StateError(
      'store-unavailable',
      `Session ${this.#record.id} is changed by others faster than this call can follow. Try again.`,
    )
  }

  /** Commits the next record. Returns whether the store accepted it: false if it has another revision by now. */
  #commit(write: Write): AtOnce<boolean> {
    const { next, kept, entry } = write
    const progress = encodeProgress(next, kept.text)
    const pages = kept.isLarge ? kept.newPages : undefined
    const committed = this.#options.store.commit(progress, this.#record, entry, pages)
    return typeof committed === 'boolean' ? this.#take(write, committed) : this.#takeLater(write, committed)
  }

  async #takeLater(write: Write, committed: Promise<boolean>): Promise<boolean> {
    return this.#take(write, await committed)
  }

  #take({ next, kept }: Write, accepted: boolean): boolean {
    if (!accepted) return false
    if (kept.isLarge) kept.keep()
    this.#record = next
    this.#kept = kept
    return true
  }

  /** Reads the record from the store. An unchanged record stays the same object. */
  async #refresh(): Promise<void> {
    const held = this.#record
    const { store } = this.#options
    const stored = await store.read(held.id)
    if (!stored) throw sessionNotFound()
    const { revision, epoch, touchedAt, state } = stored
    if (revision === held.revision && epoch === held.epoch && touchedAt === held.touchedAt && state === this.#kept.text)
      return
    const { record, kept } = await holdSession(store, stored, this.#kept)
    assertMovedOn(held, record)
    this.#record = record
    this.#kept = kept
  }

  async #readStep(revision: number): Promise<LoggedStep> {
    const { id } = this.#record
    const [entry] = await this.#options.store.readLog(id, { after: revision - 1, limit: 1 })
    if (entry?.revision === revision) return JSON.parse(entry.text)
    throw storeInvalid(`The step log of session ${id} lacks revision ${revision}.`)
  }

  #inTurn<T>(call: () => Promise<T>): Promise<T>
  #inTurn<T>(call: () => AtOnce<T>): AtOnce<T>
  #inTurn<T>(call: () => AtOnce<T>): AtOnce<T> {
    return this.#running ? this.#queued().then(() => this.#run(call)) : this.#run(call)
  }

  #run<T>(call: () => AtOnce<T>): AtOnce<T> {
    this.#running = true
    let result: AtOnce<T>
    try {
      result = call()
    } catch (error) {
      result = Promise.reject(error)
    }
    if (result instanceof Promise) return this.#leaveAfter(result)
    this.#leave()
    return result
  }

  async #leaveAfter<T>(result: Promise<T>): Promise<T> {
    try {
      return await result
    } finally {
      this.#leave()
    }
  }

  /** Resolves when the calls before this one are done. Rejects with `queue-full` if there is no room to wait. */
  async #queued(): Promise<void> {
    this.#waiting ??= []
    const count = this.#waiting.length + 1
    if (count >= this.#options.queue)
      throw new StateError('queue-full', `${count} calls wait for this session already. Wait for their answers first.`)
    await new Promise<void>((begin) => this.#waiting?.push(begin))
  }

  /** Starts the next waiting call. It comes before a new one, so `#running` stays set. */
  #leave(): void {
    const next = this.#waiting?.shift()
    if (next) next()
    else this.#running = false
  }
}
