import { DEFAULT_LIMITS, type LoggedStep } from '@episodic/protocol'
import { Session, type SessionRecord, type SessionStore, systemClock } from '@episodic/state'

/** Creates a session whose steps are signed by their player. Throws if the id is taken. */
export async function createTally(store: SessionStore, id: string): Promise<void> {
  const now = systemClock.now()
  const record: SessionRecord = {
    id,
    owner: null,
    environment: { name: 'tally', version: '1.0.0' },
    params: {},
    seed: id,
    limits: { ...DEFAULT_LIMITS, steps: 1_000_000_000 },
    createdAt: now,
    touchedAt: now,
    base: null,
    revision: 0,
    epoch: 1,
    rng: {},
    now: 0,
    state: { public: { count: 0 }, private: {} },
    end: null,
    seats: { agent: { seq: 0, last: null } },
    history: [],
    logBytes: 0,
  }
  const session = await Session.create(record, optionsOf(store))
  if (!session) throw new Error(`There is a session ${id} already.`)
}

function optionsOf(store: SessionStore) {
  return { store, clock: systemClock, history: null, queue: 8 }
}

/** Loads a session from the store. */
export async function holdTally(store: SessionStore, id: string): Promise<Session> {
  return (await Session.read(id, optionsOf(store))) as Session
}

/** Plays one step with a signature, and resolves with the revision of its commit. */
export async function sign(session: Session, signature: string): Promise<number> {
  const action = { tool: 'sign', arguments: { signature } }
  const { step } = await session.step({ seat: 'agent', action }, ({ record, draft }) => {
    const count = Number(record.state.public.count) + 1
    Object.assign(draft.public, { count })
    return {
      change: { state: draft, rng: record.rng, now: record.now },
      end: null,
      observation: { text: `${count}`, structured: null },
      terms: {},
      potential: null,
      refused: null,
    }
  })
  return step.report.revision
}

/** A step of a session's log, by its revision and player. */
export interface Signed {
  readonly revision: number
  readonly signature: string
}

/** Resolves with every signature in a session's log. */
export async function signatures(store: SessionStore, id: string): Promise<Signed[]> {
  const entries = await store.readLog(id, { after: 0, limit: 1_000_000 })
  return entries.map(({ revision, text }) => {
    const { action } = JSON.parse(text) as LoggedStep
    return { revision, signature: String(action.arguments.signature) }
  })
}
