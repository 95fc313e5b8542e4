import type { HarnessErrorCode } from '@episodic/run/base/harness-error'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import type { Answered } from '../episodes/rollout.ts'
import type { Run } from '../find-run.ts'

// The messages between a run and its workers. The first message to a worker says what it plays; all others are lists,
// those of one turn of the event loop. Both ends are the same program, so messages are not validated.

/**
 * The parts of a run of which a worker finds world and players itself. The environment of a worker does not have the
 * token of the server.
 */
export interface StartMessage extends Pick<Run, 'configuration' | 'reference' | 'settings' | 'target'> {
  /** The folder of the run, absolute. A worker keeps there what language models answer, and nothing else. */
  readonly folder: string
}

/** A planned episode for a worker to play. */
export interface TaskMessage {
  readonly number: number
  readonly run: string
  /** Milliseconds since the run started. Clocks of processes cannot be compared, so the worker counts on from here. */
  readonly started: number
  readonly planned: PlannedEpisode
}

/**
 * A worker is ready, a language model has answered a policy in an episode, it has played an episode, or failed: with
 * `number: null` before it was ready. Lines are those of `episodes.jsonl`, which are written as they come.
 */
export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answered'; readonly number: number; readonly answered: Answered }
  | { readonly kind: 'played'; readonly number: number; readonly lines: readonly string[] }
  | { readonly kind: 'failed'; readonly number: number | null; readonly error: SerializedError }

/** `code` is `null` unless the error is a `HarnessError`. */
export interface SerializedError {
  readonly code: HarnessErrorCode | null
  readonly message: string
}
