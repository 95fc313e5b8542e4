import { FAIL_FAST, OUTAGE_LIMIT } from '@episodic/models/model-options'
import type { SealedRecord } from '@episodic/protocol'
import { hasStarted } from '@episodic/report/seats/seat-record'
import { HarnessError } from '@episodic/run/base/harness-error'
import { machineClock } from '@episodic/run/base/waiting-clock'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import type { LiveFile } from '@episodic/run/folder/record/live-file'
import pLimit from 'p-limit'
import { orderStarts } from './episode-starts.ts'
import { InFlight } from './in-flight.ts'
import { everyFailed, ModelWatch, type ModelWatchOptions } from './model-watch.ts'
import type { Answered, RunTask } from './rollout.ts'
import type { Spending } from './spending.ts'

/** The place of a run in an order that it shares with others. */
export interface PlaceInOrder {
  /** Resolves when a planned episode may start, or once the signal aborts. */
  untilTurn(planned: PlannedEpisode, signal: AbortSignal): Promise<void>
  /** Says whether the others shall wait for this run. */
  setWaitedFor(isWaitedFor: boolean): void
}

/** Default: no policy asks a language model; a run stops after 5 refusals in a row, and 600 s of an outage. */
export interface RunPlanOptions
  extends Partial<Pick<ModelWatchOptions, 'models' | 'failFast' | 'outageLimit' | 'onNotice' | 'clock'>> {
  readonly run: string
  readonly runTask: RunTask
  /** Planned episodes (or trees) in flight at once. */
  readonly inFlight: number | InFlight
  /** Milliseconds that earlier parts of a resumed run took. Its clock continues from there. */
  readonly elapsed?: number
  /** Stores a record. An error that it throws stops the run. */
  readonly seal: (record: SealedRecord) => Promise<void>
  readonly signal?: AbortSignal | undefined
  /** Counts what language models take, and stops the run at a limit. Default: there is no limit. */
  readonly spending?: Spending
  readonly order?: PlaceInOrder | undefined
  readonly live?: Pick<LiveFile, 'begin'>
}

/**
 * Plays a plan with a bounded number of episodes in flight and seals each when it ends. A tree is sealed as a whole.
 *
 * Not sealed, so that a resumed run plays them: episodes in flight at an abort, and episodes that never started because
 * no server answered. An episode that loses its server midway is sealed as failed.
 *
 * If twice as many episodes in a row as can be in flight got no answer of their language model, the run pauses, and one
 * episode is tried after 1, 2, 4 and so on up to 60 seconds. Episodes without any answer are then dropped, and played
 * again.
 *
 * Throws `server-failed` if twice as many episodes in a row as can be in flight found no server; `model-unavailable` if
 * an outage lasts too long; `limit-reached` if it has spent what it may; `usage-missing` if a limit cannot hold for it;
 * and `model-refused` if the server of a language model refused `failFast` episodes in a row, or every episode. Refused
 * episodes are then not sealed. If the model has answered others since, a refused episode is sealed as failed: the
 * request itself was at fault.
 */
export async function runPlan(plan: AsyncIterable<PlannedEpisode>, options: RunPlanOptions): Promise<void> {
  const { run, elapsed = 0, models = [], failFast = FAIL_FAST, outageLimit = OUTAGE_LIMIT, order } = options
  const { onNotice, clock = machineClock, live } = options
  const inFlight = typeof options.inFlight === 'number' ? new InFlight(options.inFlight) : options.inFlight
  const onOutage = (isOut: boolean) => order?.setWaitedFor(!isOut)
  const watch = new ModelWatch({ models, inFlight, failFast, outageLimit, onNotice, onOutage, clock })
  const limit = pLimit(1)
  const started = performance.now() - elapsed
  const stop = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal
  const failures: unknown[] = []
  const fail = (error: unknown) => {
    failures.push(error)
    stop.abort(error)
  }
  const onAnswer = ({ policy, isKept, spent }: Answered) => {
    if (!isKept) watch.answered(policy)
    const missing = options.spending?.add(policy, [spent]) ?? null
    // What an earlier start kept is not asked for again.
    if (missing && !isKept) fail(missing)
  }
  const context = { run, signal, now: () => performance.now() - started, onAnswer }
  let freed = Promise.withResolvers<void>()
  const free = () => {
    freed.resolve()
    freed = Promise.withResolvers<void>()
  }
  signal.addEventListener('abort', () => watch.release())
  const { signal: reached } = options.spending ?? {}
  const widen = () => {
    limit.concurrency = inFlight.count
    free()
  }
  void watch.opened.then(() => {
    widen()
    inFlight.onChange(widen)
  })
  let unreachable = 0
  const sealAll = (records: readonly SealedRecord[]) => Promise.all(records.map(options.seal))

  const play = async (planned: PlannedEpisode, onPlayed: () => void): Promise<void> => {
    for (;;) {
      const tried = await watch.untilAvailable(signal)
      if (signal.aborted) return
      using listener = live?.begin(planned)
      const records = await options.runTask(planned, { ...context, listener })
      onPlayed()
      if (records.length === 0) return
      const verdict = watch.decide(records, tried)
      if (verdict === 'again') continue
      const foundNoServer = everyFailed(records, 'connection-failed')
      unreachable = foundNoServer ? unreachable + 1 : 0
      if (verdict === 'seal' && (!foundNoServer || records.some(hasStarted))) await sealAll(records)
      for (const settled of watch.takeSettled()) await sealAll(settled)
      if (unreachable >= 2 * inFlight.count)
        throw new HarnessError(
          'server-failed',
          `${unreachable} episodes in a row found no server. Start it again, then resume the run.`,
        )
      return
    }
  }

  const stopAtLimit = () => fail(reached?.reason)
  if (reached?.aborted) stopAtLimit()
  else reached?.addEventListener('abort', stopAtLimit, { once: true })
  const running = new Set<Promise<void>>()
  const untilNext = orderStarts(clock)
  try {
    for await (const planned of plan) {
      await order?.untilTurn(planned, signal)
      if (signal.aborted) break
      const played = Promise.withResolvers<void>()
      const sealed = limit(play, planned, played.resolve)
        .catch(fail)
        .finally(() => {
          running.delete(sealed)
          free()
        })
      running.add(sealed)
      // The plan is read no further ahead than the next episode to start.
      while (limit.pendingCount > 0 && !signal.aborted) await freed.promise
      await untilNext(played.promise)
    }
  } catch (error) {
    // The plan cannot be read on. Episodes in flight are dropped before the error is thrown.
    fail(error)
  }
  await Promise.all(running)
  if (failures.length === 0 && !signal.aborted)
    try {
      for (const rest of watch.takeRest()) await sealAll(rest)
    } catch (error) {
      fail(error)
    }
  reached?.removeEventListener('abort', stopAtLimit)
  // Node keeps a signal of `AbortSignal.any` in memory, with all that listens to it, until it aborts.
  stop.abort()
  if (failures.length > 0) throw failures[0]
}
