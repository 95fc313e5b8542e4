import type { Host, TrainerSessionRef } from '@episodic/mcp-server'
import { type Action, canonicalJson, type LoggedStep, type OpenResult } from '@episodic/protocol'
import { LRUCache } from 'lru-cache'
import { type EpisodeRequest, openSession } from '../episode/open-session.ts'
import { playStep } from '../episode/play-step.ts'
import type { Delivery } from './answer-delivery.ts'
import type { Failure } from './failure-kind.ts'
import { EMPTY, readTally, type Tally, withStep } from './tally.ts'
import type { BegunTurn } from './turn.ts'

/** A session of a host, with what this process knows of its client. */
export class RolloutSession {
  readonly handle: string
  readonly ref: TrainerSessionRef
  /** What the session was opened with; `null` if another process opened it. */
  readonly task: EpisodeRequest | null
  tally: Tally
  /** Why its episode has no valid reward; `null` while it is sound. */
  failure: Failure | null = null
  /** Whether it was unclear if some call was a repeated one, so that its trajectory has to be compared. */
  doubtful = false
  /** Whether its client has returned a later cookie than the first. */
  returnsCookies = false
  /** What became of the last answer; `null` if this process has sent none. */
  delivery: (() => Delivery) | null = null
  /** Whether its client closed the connection of its first answer; `null` until its first call. */
  closesConnections: boolean | null = null
  /** The last turn of the Gymnasium profile; `null` before the first. */
  turn: BegunTurn | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(handle: string, ref: TrainerSessionRef, tally: Tally, task: EpisodeRequest | null) {
    this.handle = handle
    this.ref = ref
    this.tally = tally
    this.task = task
  }

  /** Runs `call` after the calls before it, whatever they resolved with. */
  inTurn<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#last.then(call)
    this.#last = result.catch(() => {})
    return result
  }

  /** Plays an action as the next step. Rejects as `playStep` does, and counts nothing then. */
  async play(action: Action): Promise<LoggedStep> {
    const { step } = await playStep(this.ref, action, this.tally.played)
    this.tally = withStep(this.tally, step)
    return step
  }

  /** Returns whether this is the action of the step that was played last. */
  isLast(action: Action): boolean {
    const { last } = this.tally
    return last !== null && canonicalJson({ ...last.action }) === canonicalJson({ ...action })
  }
}

/** An opened session, and the answer of its host. */
export interface OpenedRollout {
  readonly session: RolloutSession
  readonly opened: OpenResult
}

/** Sessions that are remembered at once. A forgotten one is read from the store again. */
const REMEMBERED = 10_000

/** The sessions of one endpoint. Each is forgotten when the host lets it expire. */
export class RolloutSessions {
  readonly #host: Host
  readonly #known: LRUCache<string, Promise<RolloutSession>>

  constructor(host: Host) {
    this.#host = host
    this.#known = new LRUCache({ max: REMEMBERED, ttl: host.idleSeconds * 1_000, updateAgeOnGet: true })
  }

  /** Opens a session, or finds the one that its request key has opened. Rejects with the errors of `Host.open`. */
  async open(principal: string | null, request: EpisodeRequest): Promise<OpenedRollout> {
    const { opened, session: ref } = await openSession(this.#host, principal, request)
    const { session: handle } = opened
    const key = keyOf(principal, handle)
    // A request without a key opens a new session, in which nothing has been played.
    const read = async () =>
      new RolloutSession(handle, ref, request.requestKey === undefined ? EMPTY : await readTally(ref), request)
    const known = this.#known.get(key) ?? read()
    this.#remember(key, known)
    return { opened, session: await known }
  }

  /** Returns a session by its handle. Rejects with `session-not-found`. */
  async find(principal: string | null, handle: string): Promise<RolloutSession> {
    const key = keyOf(principal, handle)
    const known = this.#known.get(key)
    if (known) return known
    const reading = this.#read(principal, handle)
    this.#remember(key, reading)
    return reading
  }

  forget(principal: string | null, handle: string): void {
    this.#known.delete(keyOf(principal, handle))
  }

  async #read(principal: string | null, handle: string): Promise<RolloutSession> {
    const ref = await this.#host.resolve(principal, { by: 'control', token: handle })
    return new RolloutSession(handle, ref, await readTally(ref), null)
  }

  #remember(key: string, session: Promise<RolloutSession>): void {
    this.#known.set(key, session)
    session.catch(() => this.#known.delete(key))
  }
}

function keyOf(principal: string | null, handle: string): string {
  return JSON.stringify([principal, handle])
}
