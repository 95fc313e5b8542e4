import type { WaitingClock } from '@episodic/run/base/waiting-clock'

/**
 * The queue of a fleet: coordinators put the episodes of their runs into it, workers on any machine take them out, play
 * them and put the results in. `openRedisQueue` keeps it in Redis; `createMemoryQueue` in this process, by a clock of
 * its own. `describeRunQueue` tests every sentence here.
 *
 * What it promises:
 *
 * - A job is given to one worker at a time. If its worker gives it back, or is silent for longer than the lease, it is
 *   given to another.
 * - A job gets at most one result, from the worker that was the last to begin it. What an earlier one reports is
 *   refused.
 * - A result is delivered to the coordinator again and again, over each reconnection and to the next coordinator of the
 *   run, until it is acknowledged.
 * - A run has one coordinator at a time, and what an earlier one does after that is refused.
 *
 * Methods wait while the queue cannot be reached, and go on by themselves. They reject with `queue-unavailable` only
 * after the queue was closed.
 */
export interface RunQueue extends AsyncDisposable {
  /**
   * Becomes the coordinator of a run. The first renewal of its lease announces the run to the workers.
   *
   * If another coordinator has the run, waits whether it renews its lease. Rejects with `run-locked` if it does, with
   * `run-mismatch` if the queue has a run of that id with another announcement, and with the signal's reason.
   */
  coordinate(run: RunEntry, owner: CoordinatorInfo, signal: AbortSignal): Promise<Coordination>
  join(worker: WorkerInfo): Promise<Membership>
  status(): Promise<QueueStatus>
  /** Writes a little. Rejects if the queue cannot be written, because it is full, a replica, or away. */
  checkWritable(): Promise<void>
  /** Stops giving out jobs, or goes on. What is being played is not affected. */
  setPaused(isPaused: boolean): Promise<void>
  /** Removes a run that nobody coordinates. Returns `false` if it has a coordinator, or there is no such run. */
  remove(run: string): Promise<boolean>
}

export interface RunEntry {
  /** Letters and digits; the same whenever the run is resumed. */
  readonly id: string
  /** What workers have to know of it: a text that the queue does not read. */
  readonly announcement: string
  /** Identifies what is played: of two runs with one id, it must be equal. */
  readonly digest: string
  /** Milliseconds that earlier parts of the run took, by which its clock goes on. */
  readonly elapsed: number
}

export interface CoordinatorInfo {
  readonly host: string
  readonly pid: number
  /**
   * Identifies the processes among which it has the number `pid`, see `processTable`. Default: nobody can look whether
   * it has ended.
   */
  readonly processes?: string
}

export interface QueuedJob {
  /** Letters, digits, `-` and `_`; unique in its run. */
  readonly id: string
  /** A text that the queue does not read. */
  readonly payload: string
}

export interface QueuedResult {
  readonly job: string
  /** Identifies the result for `acknowledge`. */
  readonly key: string
  readonly text: string
}

/** The coordinator's side of a run. Disposing it ends the lease. */
export interface Coordination extends AsyncDisposable {
  /** Adds jobs. One that is in the queue is left as it is, with its result if it has one. */
  add(jobs: readonly QueuedJob[]): Promise<void>
  /**
   * Yields results in the order in which workers sealed them, in batches: first those of an earlier coordinator. After
   * a reconnection, results that were not acknowledged come again. Ends when the signal aborts.
   */
  results(signal: AbortSignal): AsyncIterable<readonly QueuedResult[]>
  /**
   * Removes results, and their jobs: their episodes are stored elsewhere, or shall be played again. Rejects with
   * `run-locked` if another coordinator has taken the run, as `add`, `withdraw` and `end` do.
   */
  acknowledge(results: readonly Pick<QueuedResult, 'job' | 'key'>[]): Promise<void>
  withdraw(): Promise<number>
  /**
   * Renews the lease; to be called several times within it. Returns who works now. Rejects with `run-locked` if another
   * coordinator has taken the run.
   *
   * @param toLife - returns what says to workers that the coordinator lives until that time of the queue's clock: a
   *   text that the queue does not read.
   */
  renew(toLife: (until: number) => string): Promise<readonly WorkerInfo[]>
  account(): Promise<RunAccount>
  /**
   * Ends the run in the queue. If it holds no job and no result, or the run is complete, everything of it is removed;
   * otherwise they are kept for the coordinator that resumes the run. Returns the account as it was.
   *
   * @param isComplete - whether everything that was asked for is stored. What a queue still holds then, it had lost and
   *   has
   * again.
   */
  end(isComplete: boolean): Promise<RunAccount>
}

/** A run in numbers. Since Redis may lose its last second in a crash, only `open` and `unread` are exact after one. */
export interface RunAccount {
  readonly added: number
  readonly sealed: number
  readonly fenced: number
  /** Plays whose worker ended or was silent. */
  readonly lost: number
  readonly withdrawn: number
  readonly open: number
  /** Results that no coordinator has acknowledged. */
  readonly unread: number
}

export interface WorkerInfo {
  /** Unique: another one for each start. Letters, digits and `-`. */
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly slots: number
  readonly worlds: readonly string[]
  readonly plays: readonly string[]
  /** Why it does not play the others, by their ids. */
  readonly declines: { readonly [run: string]: string }
}

/** A worker's side. Disposing it leaves the fleet, after all consumers are closed. */
export interface Membership extends AsyncDisposable {
  /**
   * Keeps the membership alive; to be called at least three times within a third of the lease. Returns the runs whose
   * coordinator has renewed its lease, and the time of the queue.
   */
  renew(worker: WorkerInfo): Promise<Announced>
  /**
   * Takes jobs of a run, and calls `play` for each; it does not reject. No more than `slots` are played at once. If
   * `play` resolves and has neither sealed the job nor given it back, it is given back.
   */
  consume(run: string, slots: number, play: (job: TakenJob) => Promise<void>): Consumer
}

export interface Announced {
  readonly runs: readonly RunAnnouncement[]
  /** Milliseconds of the queue's clock, when it answered. It may jump when the queue moves to another machine. */
  readonly time: number
}

export interface RunAnnouncement {
  readonly id: string
  readonly announcement: string
  readonly life: string
  /** The queue's clock, in milliseconds, at which the clock of the run was 0. */
  readonly origin: number
}

export interface Consumer {
  /** Most jobs at once. May be set. */
  slots: number
  /** Takes no more jobs. Resolves when those taken are over. */
  close(): Promise<void>
}

export interface TakenJob extends QueuedJob {
  /** Aborts when the job may have been given to another worker. */
  readonly signal: AbortSignal
  /**
   * Begins the job, which refuses the result of the worker that began it before. Returns how many earlier plays ended
   * with their worker; `null` if there is nothing to play: it was sealed or removed.
   */
  begin(): Promise<{ readonly lost: number } | null>
  /**
   * Sends a message to the coordinator, as a result that leaves the job open. Dropped if another worker has begun it.
   */
  report(text: string): Promise<void>
  /**
   * Gives the job its one result. Returns `false`, and changes nothing, if another worker has begun it, or it was
   * removed.
   */
  seal(text: string): Promise<boolean>
  /** Gives the job back unplayed, for another worker. */
  giveBack(): Promise<void>
}

export interface QueueStatus {
  readonly paused: boolean
  readonly runs: readonly {
    readonly id: string
    readonly announcement: string
    /** `null`: it was interrupted, and waits to be resumed. */
    readonly coordinator: CoordinatorInfo | null
    readonly account: RunAccount
    readonly playing: number
  }[]
  readonly workers: readonly WorkerInfo[]
}

export interface RunQueueOptions {
  /**
   * Milliseconds without a sign of life after which a worker has lost its jobs, or a coordinator its run. Default:
   * 30,000.
   */
  readonly lease?: number | undefined
  readonly clock?: WaitingClock | undefined
}

export const LEASE = 30_000
