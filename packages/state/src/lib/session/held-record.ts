import type { LoggedStep } from '@episodic/protocol'
import { StateError } from '../state-error.ts'
import type { LogEntry, SessionStore, StoredSession } from '../store/session-store.ts'
import { decodeSession, encodeProgress, type SessionRecord } from './session-record.ts'
import { assertMovedOn } from './state-lost.ts'

/** What a call comes to on the record that it saw: the answer, and what has to be written before it is given. */
export interface Plan<T> {
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
 * The record of a session as it was last seen in the store, and the one way in which it is written.
 *
 * What is true is in the store, where others may commit to the same session; what is held here is a guess that saves a
 * read. Takes one call at a time.
 */
export class HeldRecord {
  readonly #store: SessionStore
  #record: SessionRecord
  #stateText: string

  /** `record` is what `stored` says. */
  constructor(store: SessionStore, stored: StoredSession, record: SessionRecord) {
    this.#store = store
    this.#record = record
    this.#stateText = stored.state
  }

  get record(): SessionRecord {
    return this.#record
  }

  /** The state of the record, as the text that the store has of it. */
  get stateText(): string {
    return this.#stateText
  }

  /**
   * Plans on the record held here until a plan holds. One that writes holds when the store takes it, because the
   * store compares; one that does not, a throw included, holds when the store has nothing newer.
   */
  async settle<T>(plan: () => Plan<T> | Promise<Plan<T>>): Promise<T> {
    for (let tries = 0; tries < COMMIT_TRIES; tries++) {
      const guess = this.#record
      const attempted = attempt(plan)
      // An await costs a turn, and nearly every plan is made at once.
      const planned = attempted instanceof Promise ? await attempted : attempted
      if (planned.ok && planned.value.write) {
        const { next, stateText, entry } = planned.value.write
        if (await this.#store.commit(encodeProgress(next, stateText), guess, entry)) {
          this.#record = next
          this.#stateText = stateText
          return planned.value.answer
        }
      }
      await this.refresh()
      if (this.#record !== guess) continue
      if (!planned.ok) throw planned.cause
      if (!planned.value.write) return planned.value.answer
    }
    throw new StateError(
      'store-unavailable',
      `Session ${this.#record.id} is changed by others faster than this call can follow. Try again.`,
    )
  }

  /** Reads the record anew. One that has not changed stays the very same object. */
  async refresh(): Promise<void> {
    const stored = await this.#store.read(this.#record.id)
    if (!stored) throw sessionNotFound()
    if (this.#isHeld(stored)) return
    const record = decodeSession(stored)
    assertMovedOn(this.#record, record)
    this.#record = record
    this.#stateText = stored.state
  }

  /** Reads an answered step from the log. Throws `store-invalid` where it is not there. */
  async readStep(revision: number): Promise<LoggedStep> {
    const { id } = this.#record
    const [entry] = await this.#store.readLog(id, { after: revision - 1, limit: 1 })
    if (entry?.revision === revision) return JSON.parse(entry.text)
    throw new StateError('store-invalid', `The step log of session ${id} lacks revision ${revision}.`)
  }

  #isHeld({ revision, epoch, touchedAt, state }: StoredSession): boolean {
    const held = this.#record
    return (
      revision === held.revision && epoch === held.epoch && touchedAt === held.touchedAt && state === this.#stateText
    )
  }
}

/** The one answer for a session that is not there, whatever the reason. */
export function sessionNotFound(): StateError {
  return new StateError(
    'session-not-found',
    'There is no such session: it was never opened here, has been closed, or has expired. Open a new one.',
  )
}

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
