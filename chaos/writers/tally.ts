import { DEFAULT_LIMITS, type LoggedStep } from '@episodic/protocol'
import { Session, type SessionRecord, type SessionStore, systemClock } from '@episodic/state'

interface Tally {
  readonly public: { count: number }
  readonly private: { readonly rows: Record<string, { text: string; signature?: string }> }
}

/** Rows of a large tally: a state of some ten pages. */
export const ROWS = 400

function newTally(rows: number): Tally {
  const all = Array.from({ length: rows }, (_, i) => [`row-${i}`, { text: `${i}`.padEnd(100, '.') }])
  return { public: { count: 0 }, private: { rows: Object.fromEntries(all) } }
}

function signRow(tally: Tally, signature: string): void {
  tally.public.count += 1
  const { rows } = tally.private
  const name = `row-${(tally.public.count * 7) % ROWS}`
  if (rows[name]) rows[name].signature = signature
}

/**
 * Creates a session whose steps are signed by their player, with so many rows in its state. Sessions of as many rows
 * share the pages of their beginning. Throws if the id is taken.
 */
export async function createTally(store: SessionStore, id: string, rows: number): Promise<void> {
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
    state: stateOf(newTally(rows)),
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
    const tally = draft as unknown as Tally
    signRow(tally, signature)
    return {
      change: { state: draft, rng: record.rng, now: record.now },
      end: null,
      observation: { text: `${tally.public.count}`, structured: null },
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

/** O5: returns whether a session of so many rows has the state that a plain object has after the steps of its log. */
export async function isWhole(
  store: SessionStore,
  id: string,
  { rows, log }: { readonly rows: number; readonly log: readonly Signed[] },
): Promise<boolean> {
  const tally = newTally(rows)
  for (const { signature } of log) signRow(tally, signature)
  const { record } = await holdTally(store, id)
  return JSON.stringify(record.state) === JSON.stringify(tally)
}

function stateOf(tally: Tally): SessionRecord['state'] {
  return tally as unknown as SessionRecord['state']
}
