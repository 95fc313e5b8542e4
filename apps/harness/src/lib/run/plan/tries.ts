import type { SealedRecord } from '@episodic/protocol'
import { episodeKey } from './plan.ts'

/** Which failed episodes are played again: those that failed for a reason outside of policy and rules, or all. */
export const RETRIED = ['model', 'all'] as const
export type Retried = (typeof RETRIED)[number]

/** Failures of models and servers, which another try may not meet. */
const OUTSIDE: ReadonlySet<string> = new Set([
  'model-unavailable',
  'model-refused',
  'connection-failed',
  'server-failed',
  'session-not-found',
  'state-lost',
  'store-unavailable',
  'capacity',
  'rate-limited',
])

export interface TriesOptions {
  /** Default: none. */
  readonly retried?: Retried | undefined
  /** How often an episode may be played in all. */
  readonly most: number
}

/** What a run has sealed of each episode, and so what is still to be played. */
export interface Tries {
  /** Adds a sealed line. Returns `false` for a play that was added before. */
  add(record: SealedRecord): boolean
  /** Returns the number of the next play of an episode: 0 if it was never sealed, `null` if it is done. */
  next(key: string): number | null
  /** Episodes that are done. */
  readonly done: number
}

/** Creates an account of no episode. It keeps some 100 bytes of each. */
export function createTries({ retried, most }: TriesOptions): Tries {
  const episodes = new Map<string, { plays: Set<number> | null; next: number | null }>()
  let done = 0
  const mayRetry = ({ outcome, try: number }: SealedRecord) =>
    outcome.kind === 'failed' &&
    retried !== undefined &&
    (retried === 'all' || OUTSIDE.has(outcome.error.code)) &&
    number + 1 < most
  return {
    add(record) {
      const key = episodeKey(record)
      const known = episodes.get(key) ?? { plays: null, next: 0 }
      if (known.plays?.has(record.try)) return false
      episodes.set(key, known)
      known.plays = (known.plays ?? new Set()).add(record.try)
      const wasDone = known.next === null
      // One finished try settles the episode, in whatever order its lines come.
      if (record.outcome.kind === 'finished') known.next = null
      else if (known.next !== null && record.try >= known.next) known.next = mayRetry(record) ? record.try + 1 : null
      if (!wasDone && known.next === null) done += 1
      return true
    },
    next: (key) => {
      const known = episodes.get(key)
      return known ? known.next : 0
    },
    get done() {
      return done
    },
  }
}
