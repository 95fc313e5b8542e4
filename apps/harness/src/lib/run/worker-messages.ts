import type { EpisodeRecord } from '@episodic/protocol'
import type { HarnessErrorCode } from '../harness-error.ts'
import type { PlannedEpisode } from './plan.ts'

// What a run and its workers say to one another, after the run has said its configuration. Both ends are this very
// program, so that nothing is checked.

/** One of the plan, for a worker to play. */
export interface Deal {
  /** Tells its answer from others. */
  readonly number: number
  /** The name of the run. */
  readonly run: string
  /** Milliseconds since the run began. Clocks of processes cannot be compared, so a worker counts on from here. */
  readonly started: number
  readonly planned: PlannedEpisode
}

/** What a worker says: that it is ready to play, what it played, or what went wrong with that or before it was ready. */
export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'played'; readonly number: number; readonly records: readonly EpisodeRecord[] }
  | { readonly kind: 'failed'; readonly number: number | null; readonly error: ToldError }

/** An error as it crosses: `code` is `null` where it is none of ours. */
export interface ToldError {
  readonly code: HarnessErrorCode | null
  readonly message: string
}
