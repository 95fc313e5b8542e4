import { type Action, canonicalJson, type EpisodeEnd, findNonJson, type LoggedStep } from '@episodic/protocol'
import { CallQueue } from './call-queue.ts'
import type { Clock } from './clock.ts'
import { decideStep, fenced, type StepRequest } from './decide-step.ts'
import type { HistoryBounds } from './history.ts'
import { assertJsonState } from './json-state.ts'
import { type Change, type Played, playStep, type Stepped, type Turn } from './play-step.ts'
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
   * A move that names no epoch is this holder's own, and is `fenced` once somebody else has taken the session over.
   * Throws what {@link decideStep} throws, `seq-reused`, `queue-full`, `too-large`, `not-json`, `action-invalid`,
   * `state-lost` where the store has gone back behind what was seen in it, and `session-not-found` once the session is gone.
   */
  step(move: Move, play: (turn: Turn) => Played | Promise<Played>): Promise<Answered> {
    return this.#calls.run(async () => {
      const answer = await this.#settle<LoggedStep | { readonly replay: number }>(() => {
        const { seat, seq, epoch = this.#epoch } = move
        const verdict = decideStep(this.#record, { seat, seq, epoch })
        return verdict.kind === 'play'
          ? this.#planStep(move, play)
          : { write: null, answer: { replay: verdict.revision } }
      })
      if ('replay' in answer) return { step: await this.#answeredBefore(answer.replay, move), replayed: true }
      return { step: answer, replayed: false }
    })
  }

  /**
   * Commits a change that is no step of any seat: an outside event, or the end that a budget or a closing makes.
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
    for (let tries = 0; tries < COMMIT_TRIES; tries++) {
      const guess = this.#record
      const attempted = attempt(plan)
      // An await costs a turn, and nearly every plan is made at once.
      const planned = attempted instanceof Promise ? await attempted : attempted
      if (planned.ok && planned.value.write && (await this.#commit(planned.value.write))) return planned.value.answer
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

  #planStep(
    { seat, action }: Move,
    play: (turn: Turn) => Played | Promise<Played>,
  ): Plan<LoggedStep> | Promise<Plan<LoggedStep>> {
    const { clock, history } = this.#options
    const setting = { seat, action, draft: this.#draft(), now: clock.now(), history }
    const stepped = playStep(this.#record, setting, play)
    return stepped instanceof Promise ? stepped.then((late) => this.#planStepped(late)) : this.#planStepped(stepped)
  }

  #planStepped({ next, step: unhashed }: Stepped): Plan<LoggedStep> {
    const stateText = this.#encodeState(next)
    const step = { ...unhashed, report: { ...unhashed.report, stateHash: stateHash(stateText, next) } }
    const text = JSON.stringify(step)
    if (HALF_PAIR.test(text)) assertWholeText(step)
    this.#assertStepFits(step, text)
    return { write: { next, stateText, entry: { revision: next.revision, text } }, answer: step }
  }

  async #commit({ next, stateText, entry }: Write): Promise<boolean> {
    const { revision, epoch } = this.#record
    if (!(await this.#options.store.commit(encodeProgress(next, stateText), { revision, epoch }, entry))) return false
    this.#record = next
    this.#stateText = stateText
    return true
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

  /** The stored answer of a step that was answered before, if this is that step again. */
  async #answeredBefore(revision: number, { seq, action }: Move): Promise<LoggedStep> {
    const [entry] = await this.#options.store.readLog(this.#record.id, { after: revision - 1, limit: 1 })
    if (entry?.revision !== revision) {
      await this.#refresh()
      throw new StateError('store-invalid', `The step log of session ${this.#record.id} lacks revision ${revision}.`)
    }
    const step: LoggedStep = JSON.parse(entry.text)
    if (canonicalJson({ ...step.action }) === canonicalJson({ ...action })) return step
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
  #assertStepFits(step: LoggedStep, text: string): void {
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

/** The one answer for a session that is not there, whatever the reason. */
export function sessionNotFound(): StateError {
  return new StateError(
    'session-not-found',
    'There is no such session: it was never opened here, has been closed, or has expired. Open a new one.',
  )
}

/** How JSON text writes half of a surrogate pair, which is no character: other readers of the log would choke on it. */
const HALF_PAIR = /\\ud[89a-f]/

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
