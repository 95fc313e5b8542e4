import type { Host, TrainerSessionRef } from '@episodic/mcp-server'
import { type Action, type LoggedStep, WireError } from '@episodic/protocol'
import { LRUCache } from 'lru-cache'
import { createTurns } from '../episode/in-turn.ts'
import { leaveSession } from '../episode/leave-session.ts'
import { type EpisodeRequest, openSession } from '../episode/open-session.ts'
import { playStep } from '../episode/play-step.ts'
import type { Delivery } from './answer-delivery.ts'
import type { Failure } from './failure-kind.ts'
import { isSameCall, type Tools } from './same-call.ts'
import { EMPTY, readTally, type Tally, withStep } from './tally.ts'
import type { BegunTurn } from './turn.ts'

export class RolloutSession {
  readonly handle: string
  readonly ref: TrainerSessionRef
  readonly tools: Tools
  tally: Tally
  /** Why its episode has no valid reward; `null` while it is sound. */
  failure: Failure | null = null
  /**
   * Whether some call may have been lost or repeated, so that its whole trajectory has to be compared. What earlier
   * processes knew of the client is lost with them, so each session that was read from the store is.
   */
  doubtful: boolean
  /** Whether its client has returned a later cookie than the first. */
  returnsCookies = false
  delivery: (() => Delivery) | null = null
  /** Whether its client closed the connection of its first answer; `null` until its first call. */
  closesConnections: boolean | null = null
  turn: BegunTurn | null = null
  readonly turnIds = new LRUCache<string, true>({ max: TURN_IDS })
  /** Runs a call after the calls before it, whatever they resolved with. */
  readonly inTurn = createTurns()

  constructor(handle: string, ref: TrainerSessionRef, tools: Tools, stored: Tally | null) {
    this.handle = handle
    this.ref = ref
    this.tools = tools
    this.tally = stored ?? EMPTY
    this.doubtful = this.tally.played > 0
  }

  async play(action: Action): Promise<LoggedStep> {
    const step = await playStep(this.ref, action, this.tally.played)
    this.tally = withStep(this.tally, step)
    return step
  }

  isLast(action: Action): boolean {
    const { last } = this.tally
    return last !== null && isSameCall(action, last, this.tools)
  }
}

/** Ids of turns that are remembered for each session: more than an episode has, unless most turns call nothing. */
const TURN_IDS = 10_000

/** Sessions that are remembered at once. A forgotten one is read from the store again. */
const REMEMBERED = 10_000

export type RolloutSessions = ReturnType<typeof createRolloutSessions>

/** The sessions of one endpoint. Each is forgotten when the host lets it expire. */
export function createRolloutSessions(host: Host) {
  const byName = new LRUCache<string, Promise<RolloutSession>>({
    max: REMEMBERED,
    ttl: host.idleSeconds * 1_000,
    updateAgeOnGet: true,
  })
  return {
    /** Opens a session, or finds the one that its request key has opened. Rejects with the errors of `Host.open`. */
    async open(principal: string | null, request: EpisodeRequest) {
      const { opened, session: ref } = await openSession(host, principal, request)
      const { session: handle } = opened
      const key = toRolloutKey(principal, handle)
      // A request without a key opens a new session, in which nothing has been played.
      const read = () =>
        request.requestKey === undefined
          ? newSession(handle, ref, null)
          : readTally(ref).then((tally) => newSession(handle, ref, tally))
      const known = byName.get(key) ?? read()
      remember(key, known)
      return { opened, session: await known }
    },
    find,
    isOpen,
    async isOpenedBy(principal: string | null, requestKey: string, handle: string): Promise<boolean> {
      if (!(await isOpen(principal, handle))) return false
      const opened = await host.findOpened(principal, requestKey)
      try {
        return (await opened.state()).id === (await (await find(principal, handle)).ref.state()).id
      } catch (error) {
        if (WireError.is(error, 'session-not-found')) return false
        throw error
      }
    },
    async closeOpened(principal: string | null, requestKey: string): Promise<void> {
      await leaveSession(await host.findOpened(principal, requestKey))
    },
    forget(principal: string | null, handle: string): void {
      byName.delete(toRolloutKey(principal, handle))
    },
  }

  async function find(principal: string | null, handle: string): Promise<RolloutSession> {
    const key = toRolloutKey(principal, handle)
    const known = byName.get(key)
    if (known) return known
    const reading = read(principal, handle)
    remember(key, reading)
    return reading
  }

  async function isOpen(principal: string | null, handle: string): Promise<boolean> {
    try {
      // A session that this process remembers may be gone from the store.
      await (await find(principal, handle)).ref.view()
      return true
    } catch (error) {
      if (WireError.is(error, 'session-not-found')) return false
      throw error
    }
  }

  async function read(principal: string | null, handle: string): Promise<RolloutSession> {
    const ref = await host.resolve(principal, { by: 'control', token: handle })
    return newSession(handle, ref, await readTally(ref))
  }

  function remember(key: string, session: Promise<RolloutSession>): void {
    byName.set(key, session)
    session.catch(() => byName.delete(key))
  }
}

/** `stored` is what an earlier process has played in the session; `null` if it was opened just now. */
async function newSession(handle: string, ref: TrainerSessionRef, stored: Tally | null): Promise<RolloutSession> {
  const { tools } = await ref.environment()
  return new RolloutSession(handle, ref, tools, stored)
}

export function toRolloutKey(principal: string | null, handle: string): string {
  return JSON.stringify([principal, handle])
}
