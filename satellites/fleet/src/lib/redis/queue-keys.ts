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
  runPrefix: `${TAG}:run:`,
  /** Written by who asks whether the queue can be written. */
  writable: `${TAG}:writable`,
  /** Never exists. */
  probe: `${TAG}:probe`,
  modelPrefix: `${TAG}:`,
}

export type RunKeys = ReturnType<typeof keysOf>

export function keysOf(run: string) {
  const prefix = `${QUEUE_KEYS.runPrefix}${run}`
  return {
    lease: `${prefix}:lease`,
    /** A hash: the states of its jobs. */
    jobs: `${prefix}:jobs`,
    /** A stream: results that were not acknowledged. */
    results: `${prefix}:results`,
    /** A hash: its counts. */
    account: `${prefix}:account`,
    bull: `run-${run}`,
  }
}
