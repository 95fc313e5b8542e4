import {
  type Action,
  canonicalJson,
  contentId,
  type EpisodeEnd,
  findNonJson,
  type Json,
  type LoggedStep,
  type OutsideEvent,
  type PublishResult,
} from '@episodic/protocol'
import { CallQueue } from './call-queue.ts'
import type { Clock } from './clock.ts'
import { decideStep, episodeEnded, fenced, type StepRequest, type StepVerdict, seatOf } from './decide-step.ts'
import type { HistoryBounds } from './history.ts'
import { assertJsonState } from './json-state.ts'
import { assertRoom, DEFAULT_EVENTS, findKnown, type Happened, recordEvent } from './outside.ts'
import { type Change, type Played, playStep, type Stepped, type Turn, truncationOf } from './play-step.ts'
import {
  decodeSession,
  encodeProgress,
  encodeSession,
  type SessionRecord,
  type SessionState,
} from './session-record.ts'
import type { LogEntry, SessionStore, StoredSession } from './session-store.ts'
import { StateError } from './state-error.ts'
import { stateHash } from './state-hash.ts'
import { assertMovedOn } from './state-lost.ts'

/** A step as it arrives, with what it does. */
export type Move = StepRequest & { readonly action: Action }

/** An answered step. */
export interface Answered {
  readonly step: LoggedStep
  /** The answer was given before, and this is the stored one. */
  readonly replayed: boolean
}

export interface SessionOptions {
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
}

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

/** What a call comes to on the record that it saw: the answer, and what has to be written before it is given. */
interface Plan<T> {
  readonly write: Write | null
  readonly answer: T
}

interface Write {
  readonly next: SessionRecord
  readonly stateText: string
  readonly entry?: LogEntry
}

/** How often a call is tried again when others commit in between. Each try means that somebody got through. */
const COMMIT_TRIES = 32

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
  #epoch: number
  #record: SessionRecord
  #stateText: string

  /** `record` is what `stored` says, for a caller that has read it already. */
  constructor(stored: StoredSession, options: SessionOptions, record = decodeSession(stored)) {
    this.#options = options
    this.#calls = new CallQueue(options.queue)
    this.#epoch = record.epoch
    this.#record = record
    this.#stateText = stored.state
  }

  /** The record as it was last seen in the store. */
  get record(): SessionRecord {
    return this.#record
  }

  /** Whether a later owner has the session: whatever this holder does in its own name is `fenced` from now on. */
  get fenced(): boolean {
    return this.#record.epoch > this.#epoch
  }

  /** Whether a call is running or waiting. */
  get busy(): boolean {
    return this.#calls.busy
  }

  /** UTF-8 bytes that the store keeps, the step log left out. */
  get bytes(): number {
    const { origin, base, head, state } = encodeSession(this.#record)
    return byteLength(origin) + byteLength(base ?? '') + byteLength(head) + byteLength(state)
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
   * Throws what {@link decideStep} throws, `seq-reused`, `queue-full`, `too-large`, `not-json`, `action-invalid`,
   * `state-lost` where the store has gone back behind what was seen in it, and `session-not-found` once the session is gone.
   */
  step(move: Move, play: (turn: Turn) => Played | Promise<Played>, preparation?: () => Preparation): Promise<Answered> {
    const settle = (prepared?: PreparedStep) =>
      this.#settle(() => {
        const verdict = this.#decide(move)
        return verdict.kind === 'play' ? this.#planStep(move, play, prepared) : this.#planReplay(move, verdict.revision)
      })
    return this.#calls.run(() => (preparation ? this.#prepare(move, preparation).then(settle) : settle()))
  }

  /**
   * Applies an outside event exactly once, in its turn among the steps, and tells what it came to. One that was applied
   * before, and is known still, is told of again.
   *
   * `apply` is called as `play` is in {@link step}. Throws `event-invalid`, `event-too-large`, `events-full`,
   * `episode-ended`, and what a commit throws.
   */
  publish(
    event: OutsideEvent,
    apply: (turn: Omit<Turn, 'truncation'>) => Happened | Promise<Happened>,
  ): Promise<PublishResult> {
    const { events: bound = DEFAULT_EVENTS, clock } = this.#options
    return this.#calls.run(() =>
      this.#settle<PublishResult>(() => {
        if (this.fenced) throw fenced()
        const record = this.#record
        const known = findKnown(record, event)
        if (known) {
          const { revision, end } = known
          return { write: null, answer: { revision, end, delivered: 'before' } }
        }
        if (record.end) throw episodeEnded(record.end)
        assertRoom(record, event, bound)
        const plan = (happened: Happened): Plan<PublishResult> => {
          const next = recordEvent(record, event, happened, { bound, now: clock.now() })
          const { revision, end } = next
          return { write: { next, stateText: this.#encodeState(next) }, answer: { revision, end, delivered: 'now' } }
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
      await this.#settle(() => {
        if (this.fenced) throw fenced()
        const record = this.#record
        const changed = change({ record, draft: this.#draft() })
        if (!changed) return { write: null, answer: null }
        const next = { ...record, ...changed, revision: record.revision + 1, touchedAt: this.#options.clock.now() }
        return { write: { next, stateText: this.#encodeState(next) }, answer: null }
      })
      return this.#record
    })
  }

  /**
   * Makes this holder the session's owner: raises the epoch, so that no former owner commits again, however long it
   * was away. Whoever takes over last owns the session.
   */
  takeOver(): Promise<SessionRecord> {
    return this.#calls.run(async () => {
      this.#epoch = await this.#settle(() => {
        const { epoch, revision } = this.#record
        const next = { ...this.#record, epoch: epoch + 1, revision: revision + 1, touchedAt: this.#options.clock.now() }
        return { write: { next, stateText: this.#stateText }, answer: next.epoch }
      })
      return this.#record
    })
  }

  /** Reads the record anew, for an answer that must not come from a guess. */
  refresh(): Promise<SessionRecord> {
    return this.#calls.run(async () => {
      await this.#refresh()
      return this.#record
    })
  }

  /** Reads the record anew, and its state as the text that the store has: for what begins where it stands. */
  moment(): Promise<{ readonly record: SessionRecord; readonly stateText: string }> {
    return this.#calls.run(async () => {
      await this.#refresh()
      return { record: this.#record, stateText: this.#stateText }
    })
  }

  /**
   * Plans on the record held here until a plan holds. One that writes holds when the store takes it, because the
   * store compares; one that does not, a throw included, holds when the store has nothing newer.
   */
  async #settle<T>(plan: () => Plan<T> | Promise<Plan<T>>): Promise<T> {
    const { store } = this.#options
    for (let tries = 0; tries < COMMIT_TRIES; tries++) {
      const guess = this.#record
      const attempted = attempt(plan)
      // An await costs a turn, and nearly every plan is made at once.
      const planned = attempted instanceof Promise ? await attempted : attempted
      if (planned.ok && planned.value.write) {
        const { next, stateText, entry } = planned.value.write
        if (await store.commit(encodeProgress(next, stateText), guess, entry)) {
          this.#record = next
          this.#stateText = stateText
          return planned.value.answer
        }
      }
      await this.#refresh()
      if (this.#record !== guess) continue
      if (!planned.ok) throw planned.cause
      if (!planned.value.write) return planned.value.answer
    }
    throw new StateError(
      'store-unavailable',
      `Session ${this.#record.id} is changed by others faster than this call can follow. Try again.`,
    )
  }

  #decide({ seat, seq, epoch = this.#epoch }: Move): StepVerdict {
    return decideStep(this.#record, { seat, seq, epoch })
  }

  /** Gets from outside what a step is played with. */
  async #prepare(move: Move, preparationOf: () => Preparation): Promise<PreparedStep> {
    const { seat, action } = move
    const arrived = this.#options.clock.now()
    const preparation = await this.#settle<Preparation | null>(() => {
      const record = this.#record
      const plays = this.#decide(move).kind === 'play' && !record.end
      const late = plays && truncationOf(record, seatOf(record, seat).seq + 1, arrived) === 'time-limit'
      const preparation = plays && !late ? preparationOf() : null
      if (!preparation?.external) return { write: null, answer: preparation }
      const effect = { seat, action: contentId(canonicalJson({ ...action })) }
      if (record.effect?.seat === seat && record.effect.action === effect.action) throw outcomeUnknown(action)
      const next = { ...record, effect, revision: record.revision + 1, touchedAt: this.#options.clock.now() }
      return { write: { next, stateText: this.#stateText }, answer: preparation }
    })
    return { value: await preparation?.prepare(this.#record), arrived }
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
    const stepped = playStep(this.#record, setting, play)
    return stepped instanceof Promise ? stepped.then((late) => this.#planStepped(late)) : this.#planStepped(stepped)
  }

  #planStepped({ next, step: unhashed }: Stepped): Plan<Answered> {
    const stateText = this.#encodeState(next)
    const step = { ...unhashed, report: { ...unhashed.report, stateHash: stateHash(stateText, next) } }
    const text = JSON.stringify(step)
    if (text.includes(HALF_PAIR)) assertWholeText(step)
    this.#assertStepFits(step, text)
    const entry = { revision: next.revision, text }
    return { write: { next, stateText, entry }, answer: { step, replayed: false } }
  }

  async #refresh(): Promise<void> {
    const stored = await this.#options.store.read(this.#record.id)
    if (!stored) throw sessionNotFound()
    if (this.#isHeld(stored)) return
    const record = decodeSession(stored)
    assertMovedOn(this.#record, record)
    this.#record = record
    this.#stateText = stored.state
  }

  #isHeld({ revision, epoch, touchedAt, state }: StoredSession): boolean {
    const held = this.#record
    return (
      revision === held.revision && epoch === held.epoch && touchedAt === held.touchedAt && state === this.#stateText
    )
  }

  /** Plans to give the stored answer of a step that was answered before, if this is that step again. */
  async #planReplay({ seq, action }: Move, revision: number): Promise<Plan<Answered>> {
    const [entry] = await this.#options.store.readLog(this.#record.id, { after: revision - 1, limit: 1 })
    if (entry?.revision !== revision)
      throw new StateError('store-invalid', `The step log of session ${this.#record.id} lacks revision ${revision}.`)
    const step: LoggedStep = JSON.parse(entry.text)
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
    return JSON.parse(this.#stateText)
  }

  #encodeState(next: SessionRecord): string {
    if (next.state === this.#record.state) return this.#stateText
    assertJsonState(next.state)
    const text = JSON.stringify(next.state)
    this.#assertFits(text, 'state')
    return text
  }

  /** The log keeps the action with its answer. One that is too large by itself is its sender's doing, not the rules'. */
  #assertStepFits(whole: LoggedStep, wholeText: string): void {
    if (this.#fits(wholeText)) return
    const {
      report: { events, ...report },
      ...rest
    } = whole
    // Events have room of their own, and have come already.
    const step = { ...rest, report }
    const text = events ? JSON.stringify(step) : wholeText
    if (this.#fits(text)) return
    if (this.#fits(JSON.stringify({ ...step, action: null })))
      throw new StateError(
        'action-invalid',
        `The action is too large: with its answer it would pass the session's limit of ${this.#record.limits.bytes} bytes.`,
      )
    this.#assertFits(text, 'answer')
  }

  /** A UTF-16 code unit is at most three bytes of UTF-8, so short texts need no counting. */
  #fits(text: string): boolean {
    const { bytes } = this.#record.limits
    return text.length * 3 <= bytes || byteLength(text) <= bytes
  }

  #assertFits(text: string, what: string): void {
    const { bytes } = this.#record.limits
    if (!this.#fits(text))
      throw new StateError('too-large', `The ${what} would pass the session's limit of ${bytes} bytes.`, {
        details: { limit: bytes },
      })
  }
}

/** The answer for a step that was to do something outside, and may have done it. */
function outcomeUnknown({ tool }: Action): StateError {
  return new StateError(
    'outcome-unknown',
    `Whether this call of ${tool} did what it does outside cannot be known: it was begun, and its answer was lost. Look how things stand, with another call; after that, ${tool} is played again where it is called again.`,
  )
}

/** The one answer for a session that is not there, whatever the reason. */
export function sessionNotFound(): StateError {
  return new StateError(
    'session-not-found',
    'There is no such session: it was never opened here, has been closed, or has expired. Open a new one.',
  )
}

/**
 * How JSON text writes half of a surrogate pair, which is no character: other readers of the log would choke on it. A
 * backslash and two letters look the same, so what has this in it is looked at closely.
 */
const HALF_PAIR = '\\ud'

function assertWholeText(step: LoggedStep): void {
  const sent = findNonJson(step.action, 'action')
  if (sent) throw new StateError('action-invalid', `The action cannot be written as JSON: ${sent}.`)
  const said = findNonJson(step.observation, 'observation')
  if (said) throw new StateError('not-json', `The rules gave an answer that JSON cannot say: ${said}.`)
}

function byteLength(text: string): number {
  return encoder.encode(text).length
}
const encoder = new TextEncoder()

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly cause: unknown }

function attempt<T>(run: () => T | Promise<T>): Attempt<T> | Promise<Attempt<T>> {
  const failed = (cause: unknown): Attempt<T> => ({ ok: false, cause })
  try {
    const value = run()
    return value instanceof Promise ? value.then((value) => ({ ok: true, value }), failed) : { ok: true, value }
  } catch (cause) {
    return failed(cause)
  }
}
