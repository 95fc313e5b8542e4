/** One hash tag, so that all keys are in one slot of a cluster and a script may use them together. */
const TAG = '{episodic-fleet}'

/** The prefix of BullMQ's own keys. */
export const BULL_PREFIX = `${TAG}:bull`

export const QUEUE_KEYS = {
  /** A hash: the runs, each `<origin> <digest> <announcement>`. */
  runs: `${TAG}:runs`,
  /** A sorted set: workers by the time until which they are alive. */
  workers: `${TAG}:workers`,
  /** A hash: the descriptions of workers. */
  infos: `${TAG}:worker-infos`,
  /** Exists while no jobs are given out. */
  paused: `${TAG}:paused`,
  /** The prefix of the keys of runs. */
  runPrefix: `${TAG}:run:`,
  /** Written by who asks whether the queue can be written. */
  writable: `${TAG}:writable`,
  /** Never exists. */
  probe: `${TAG}:probe`,
  /** The prefix of the keys of language models. */
  modelPrefix: `${TAG}:`,
}

export interface RunKeys {
  /** A hash: who coordinates it. */
  readonly lease: string
  /** A hash: the states of its jobs. */
  readonly jobs: string
  /** A stream: results that were not acknowledged. */
  readonly results: string
  /** A hash: its counts. */
  readonly account: string
  /** The name of its queue in BullMQ. */
  readonly bull: string
}

export function keysOf(run: string): RunKeys {
  const prefix = `${QUEUE_KEYS.runPrefix}${run}`
  return {
    lease: `${prefix}:lease`,
    jobs: `${prefix}:jobs`,
    results: `${prefix}:results`,
    account: `${prefix}:account`,
    bull: `run-${run}`,
  }
}
