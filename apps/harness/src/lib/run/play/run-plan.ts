import type { BranchPoint } from '@episodic/env'
import type { SealedRecord } from '@episodic/protocol'
import { hasStarted } from '@episodic/report'
import pLimit from 'p-limit'
import { HarnessError } from '../../harness-error.ts'
import { countLeaves } from '../plan/configuration.ts'
import type { PlannedEpisode } from '../plan/plan.ts'
import type { RunTask } from './run-task.ts'

export interface RunPlanOptions {
  /** The name of the run. */
  readonly run: string
  readonly runTask: RunTask
  /** Planned episodes (or trees) in flight at once. */
  readonly inFlight: number
  /** Milliseconds that earlier parts of a resumed run took. Its clock continues from there. */
  readonly elapsed?: number
  /** Stores a record. An error that it throws stops the run. */
  readonly seal: (record: SealedRecord) => Promise<void>
  readonly signal?: AbortSignal | undefined
}

/**
 * Plays a plan with a bounded number of episodes in flight and seals each when it ends. A tree is sealed as a whole.
 *
 * Not sealed, so that a resumed run plays them: episodes in flight at an abort, and episodes that never started because
 * no server answered. An episode that loses its server midway is sealed as failed.
 *
 * Throws `server-failed` if twice as many episodes in a row as can be in flight found no server, and `model-refused` if
 * the server of a language model permanently rejected five in a row, or every episode. Episodes rejected at that point
 * are not sealed. If the model has answered others since, a rejected episode is sealed as failed: the request itself was
 * at fault.
 */
export async function runPlan(plan: AsyncIterable<PlannedEpisode>, options: RunPlanOptions): Promise<void> {
  const { run, inFlight, elapsed = 0 } = options
  const limit = pLimit(inFlight)
  const started = performance.now() - elapsed
  const stop = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal
  const context = { run, signal, now: () => performance.now() - started }
  let freed = Promise.withResolvers<void>()
  let unreachable = 0
  const rejections = new ModelRejections(2 * inFlight)
  const sealAll = (records: readonly SealedRecord[]) => Promise.all(records.map(options.seal))

  const play = async (planned: PlannedEpisode): Promise<void> => {
    if (signal.aborted) return
    const records = await options.runTask(planned, context)
    if (records.length === 0) return
    const foundNoServer = records.every((record) => failedWith(record, 'connection-failed'))
    unreachable = foundNoServer ? unreachable + 1 : 0
    if (records.every((record) => failedWith(record, 'model-refused'))) rejections.hold(records)
    else if (!foundNoServer || records.some(hasStarted)) {
      await sealAll(records)
      for (const settled of rejections.countAnswered()) await sealAll(settled)
    }
    if (unreachable >= 2 * inFlight)
      throw new HarnessError(
        'server-failed',
        `${unreachable} episodes in a row found no server. Start it again, then resume the run.`,
      )
  }

  const failures: unknown[] = []
  const fail = (error: unknown) => {
    failures.push(error)
    stop.abort(error)
  }
  const running = new Set<Promise<void>>()
  try {
    for await (const planned of plan) {
      if (signal.aborted) break
      const played = limit(play, planned)
        .catch(fail)
        .finally(() => {
          running.delete(played)
          freed.resolve()
          freed = Promise.withResolvers<void>()
        })
      running.add(played)
      // The plan is read no further ahead than the next episode to start.
      while (limit.pendingCount > 0 && !signal.aborted) await freed.promise
    }
  } catch (error) {
    // The plan cannot be read on. Episodes in flight are dropped before the error is thrown.
    fail(error)
  }
  await Promise.all(running)
  if (failures.length === 0 && !signal.aborted)
    try {
      for (const settled of rejections.finish()) await sealAll(settled)
    } catch (error) {
      fail(error)
    }
  if (failures.length > 0) throw failures[0]
}

/** Returns how many planned episodes may be in flight if `concurrency` episodes may: each makes a tree of `branch`. */
export function maxTasksInFlight(concurrency: number, branch: readonly Pick<BranchPoint, 'lines'>[] = []): number {
  return Math.max(1, Math.floor(concurrency / countLeaves(branch)))
}

function failedWith({ outcome }: SealedRecord, code: string): boolean {
  return outcome.kind === 'failed' && outcome.error.code === code
}

/** This many episodes in a row that a model's server rejected permanently stop a run. */
const MAX_REJECTIONS = 5

/**
 * Holds back the episodes that the server of a language model rejected permanently (a wrong key, an unknown model) until
 * it is clear whether it rejects all of them or only these.
 */
class ModelRejections {
  readonly #settleAfter: number
  /** Rejected episodes, the earliest first, each with the number of answered episodes at that time. */
  readonly #held: { readonly records: readonly SealedRecord[]; readonly answered: number }[] = []
  #answered = 0
  #inRow = 0

  /** @param settleAfter - answered episodes after which a rejection was caused by its own request: more than were in flight with it. */
  constructor(settleAfter: number) {
    this.#settleAfter = settleAfter
  }

  /** Holds a rejected episode. Throws `model-refused` after {@link MAX_REJECTIONS} in a row. */
  hold(records: readonly SealedRecord[]): void {
    this.#held.push({ records, answered: this.#answered })
    this.#inRow += 1
    if (this.#inRow >= MAX_REJECTIONS) throw this.#failure(records)
  }

  /** Counts an episode that was not rejected. Returns the held ones whose own request was at fault. */
  countAnswered(): (readonly SealedRecord[])[] {
    this.#answered += 1
    this.#inRow = 0
    const since = this.#held.findIndex(({ answered }) => this.#answered - answered < this.#settleAfter)
    return this.#held.splice(0, since < 0 ? this.#held.length : since).map(({ records }) => records)
  }

  /** Returns the episodes still held at the end of a plan. Throws `model-refused` if nothing was answered. */
  finish(): (readonly SealedRecord[])[] {
    const last = this.#held.at(-1)
    if (last && this.#answered === 0) throw this.#failure(last.records)
    return this.#held.splice(0).map(({ records }) => records)
  }

  #failure([record]: readonly SealedRecord[]): HarnessError {
    const message = record?.outcome.kind === 'failed' ? record.outcome.error.message : ''
    const times = this.#inRow === 1 ? 'The episode' : `${this.#inRow} episodes in a row`
    return new HarnessError(
      'model-refused',
      `${times} failed with a refusal that trying again does not change, so the run stopped and did not seal them. ${message} Then resume the run.`,
    )
  }
}
