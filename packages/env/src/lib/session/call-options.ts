import type { JsonObject, LimitsRequest, OutsideEvent } from '@episodic/protocol'

/** The part of a task that `reset` reads. A `Task` is a `Playable`; `{}` plays the defaults with a random seed. */
export interface Playable {
  readonly environment?: { readonly name: string; readonly version: string } | undefined
  readonly params?: JsonObject | undefined
  readonly seed?: string | undefined
  readonly limits?: LimitsRequest | undefined
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface ResetOptions extends CallOptions {
  /** Played instead of the task's own seed. */
  readonly seed?: string | undefined
}

export interface SnapshotOptions extends CallOptions {
  /** The number of answered steps, 0 for the start. Default: the present. */
  readonly at?: number | undefined
}

export interface ForkOptions extends SnapshotOptions {
  /** From 1, which is the default, to 1,000. */
  readonly count?: number | undefined
  /**
   * Reseeds each fork: fork i (from 0) continues with the seed `seedFor(seed, 'fork', i)`. Without it, all forks keep
   * the random streams of their parent, and the same actions get the same answers.
   */
  readonly seed?: string | undefined
}

/** An outside event to publish. */
export interface EventInput extends Pick<OutsideEvent, 'type'> {
  /** Default: `{}`. */
  readonly data?: OutsideEvent['data'] | undefined
  /** Publishing again under the same id changes nothing. Default: a random id. */
  readonly id?: string | undefined
}
