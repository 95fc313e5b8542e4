import { createRng, type Limits } from '@episodic/protocol'
import { createManualClock, type ManualClock } from './clock.ts'
import type { HistoryBounds } from './history.ts'
import { createMemoryStore } from './memory-store.ts'
import type { Played, Turn } from './play-step.ts'
import { type Move, Session } from './session.ts'
import { encodeSession, type SessionRecord } from './session-record.ts'
import type { SessionStore, StoredSession } from './session-store.ts'

/** Where the counting world ends. */
const GOAL = 100

export interface CountingSession {
  readonly session: Session
  readonly store: SessionStore
  readonly clock: ManualClock
  /** Another holder of the same session, as another process would be. */
  another(): Promise<Session>
}

/** The smallest world: a total that each step adds to, a draw of chance a step, and an end at {@link GOAL}. */
export async function openCountingSession(
  options: {
    readonly limits?: Partial<Limits>
    readonly history?: HistoryBounds | null
    readonly queue?: number
    readonly logBytes?: number
    readonly seats?: readonly string[]
    readonly store?: SessionStore
    readonly id?: string
  } = {},
): Promise<CountingSession> {
  const clock = createManualClock(1_000_000)
  const { logBytes } = options
  const { history = null, queue = 100, seats = ['agent'], store = createMemoryStore(), id = 'counting-1' } = options
  const record: SessionRecord = {
    id,
    owner: null,
    environment: { name: 'counting', version: '1.0.0' },
    params: {},
    seed: 'seed',
    limits: { steps: 1_000, seconds: null, bytes: 100_000, ...options.limits },
    createdAt: clock.now(),
    touchedAt: clock.now(),
    base: null,
    revision: 0,
    epoch: 1,
    rng: {},
    now: 0,
    state: { public: { total: 0 }, private: { drawn: 0 } },
    end: null,
    seats: Object.fromEntries(seats.map((seat) => [seat, { seq: 0, last: null }])),
    history: [],
    logBytes: 0,
  }
  await store.create(encodeSession(record))
  const another = async () =>
    new Session((await store.read(record.id)) as StoredSession, {
      store,
      clock,
      history,
      queue,
      ...(logBytes !== undefined && { logBytes }),
    })
  return { session: await another(), store, clock, another }
}

/** The action of the counting world. */
export function add(by: number): Move['action'] {
  return { tool: 'add', arguments: { by } }
}

/** A step of the only seat; `seq` left out makes it an at-most-once call. */
export function adding(by: number, seq?: number): Move {
  return { seat: 'agent', action: add(by), seq }
}

/** The rules of the counting world for a move. They refuse to add nothing. */
export function rulesOf(move: Move): (turn: Turn) => Played {
  return ({ record, draft, truncation }) => {
    const by = Number(move.action.arguments.by)
    const rng = createRng(record.seed, record.rng)
    const before = totalOf(record)
    const after = before + by
    const truncated = truncation ? ({ kind: 'truncated', reason: truncation } as const) : null
    if (by === 0) return { ...NOTHING, observation: tell(`still ${before}`), refused: 'rules', end: truncated }
    Object.assign(draft.public, { total: after })
    Object.assign(draft.private, { drawn: rng.int(1, 1_000_000) })
    return {
      ...NOTHING,
      change: { state: draft, rng: rng.save(), now: record.now + 1 },
      observation: tell(`now ${after}`),
      terms: { gain: by },
      end: after >= GOAL ? { kind: 'terminated', reason: 'full' } : truncated,
      remember: { by },
    }
  }
}

/** Plays a move by the rules of the counting world. */
export function play(session: Session, move: Move) {
  return session.step(move, rulesOf(move))
}

export function totalOf(record: SessionRecord): number {
  return Number(record.state.public.total)
}

const NOTHING = { change: null, end: null, terms: {}, potential: null, refused: null } as const

const tell = (text: string) => ({ text, structured: null })
