import type { SealedRecord } from '@episodic/protocol'
import { episodeKey } from '@episodic/run/folder/plan/planned-episode'
import type { Retried } from '../run-settings.ts'

/** Failures of models and servers, and of simulated users, which another try may not meet. */
const FAILURES: Readonly<Record<Exclude<Retried, 'all'>, readonly string[]>> = {
  model: [
    ...['model-unavailable', 'model-refused', 'connection-failed', 'server-failed', 'session-not-found'],
    ...['state-lost', 'store-unavailable', 'capacity', 'rate-limited'],
  ],
  user: ['user-spoiled'],
}

/** The plays of an episode that were added, and the number of the next one; `null` if it is done. */
interface Known {
  readonly plays: ReadonlySet<number>
  readonly next: number | null
}

/** Nearly every episode: shared, so that one costs only its key. */
const FINISHED_AT_FIRST: Known = { plays: new Set([0]), next: null }

/**
 * Creates an account of what a run has sealed of each episode, and so of what is still to be played. It keeps some 100
 * bytes of each that is added.
 */
export function createTries({ retried, most }: { readonly retried?: Retried | undefined; readonly most: number }) {
  const episodes = new Map<string, Known>()
  let done = 0
  const mayRetry = ({ outcome, try: number }: SealedRecord) =>
    outcome.kind === 'failed' &&
    retried !== undefined &&
    (retried === 'all' || FAILURES[retried].includes(outcome.error.code)) &&
    number + 1 < most
  const nextAfter = (record: SealedRecord, next: number | null): number | null => {
    // One finished try settles the episode, in whatever order its lines come.
    if (record.outcome.kind === 'finished' || next === null) return null
    if (record.try < next) return next
    return mayRetry(record) ? record.try + 1 : null
  }
  const tries = {
    /** Adds a line that the run has. Returns `false` for a play that was added before. */
    add(record: SealedRecord): boolean {
      const key = episodeKey(record)
      const known = episodes.get(key)
      if (known?.plays.has(record.try)) return false
      const next = nextAfter(record, known ? known.next : 0)
      const isFirst = known === undefined && record.try === 0 && next === null
      episodes.set(key, isFirst ? FINISHED_AT_FIRST : { plays: new Set(known?.plays).add(record.try), next })
      if (known?.next !== null && next === null) done += 1
      return true
    },
    /**
     * Counts an episode of the plan that was just played, and keeps nothing of it unless an earlier line of it was
     * added, because a plan has each episode once. Returns `false` for a play that was added before.
     */
    settle(record: SealedRecord): boolean {
      if (episodes.has(episodeKey(record))) return tries.add(record)
      if (nextAfter(record, 0) === null) done += 1
      return true
    },
    has: (record: SealedRecord) => episodes.get(episodeKey(record))?.plays.has(record.try) ?? false,
    /** Returns the number of the next play of an episode: 0 if it was never added, `null` if it is done. */
    next: (key: string) => (episodes.has(key) ? (episodes.get(key) as Known).next : 0),
    get done() {
      return done
    },
  }
  return tries
}
