import type { EpisodeRecord } from '@episodic/protocol'
import pLimit from 'p-limit'
import { HarnessError } from '../harness-error.ts'
import type { PlannedEpisode } from './plan.ts'
import type { PlayPlanned } from './play-planned.ts'
import { Refusals } from './refusals.ts'

export interface PlayPlanOptions {
  readonly run: string
  readonly play: PlayPlanned
  /** How many of the plan are in flight at once. */
  readonly inFlight: number
  /** Milliseconds that earlier sittings of the run have taken, so that its time goes on where it stopped. */
  readonly elapsed?: number
  /** Keeps a record. What it throws stops the run. */
  readonly seal: (record: EpisodeRecord) => Promise<void>
  readonly signal?: AbortSignal | undefined
}

/**
 * Plays a plan with a bounded number in flight, wherever each is played, and seals what they come to as they land.
 *
 * After an abort, what is in flight is dropped unsealed. So is an episode that never began because no server answered.
 * Throws `server-failed` where twice as many in a row as can be in flight found nobody there, and `model-refused` where the
 * server of a language model refused five in a row for good, or all that were played. What was refused at that time is not
 * sealed, so that a resumed run plays it again. It is sealed as failed where the model answered others since: then it was
 * refused for what it asked.
 */
export async function playPlan(plan: AsyncIterable<PlannedEpisode>, options: PlayPlanOptions): Promise<void> {
  const { run, inFlight, elapsed = 0 } = options
  const limit = pLimit(inFlight)
  const began = performance.now() - elapsed
  const stop = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal
  const sitting = { run, signal, now: () => performance.now() - began }
  let freed = Promise.withResolvers<void>()
  let lost = 0
  const refusals = new Refusals({ patience: 2 * inFlight })
  const sealAll = (records: readonly EpisodeRecord[]) => Promise.all(records.map(options.seal))

  const play = async (planned: PlannedEpisode): Promise<void> => {
    if (signal.aborted) return
    const records = await options.play(planned, sitting)
    if (records.length === 0) return
    const unanswered = records.every(isUnanswered)
    lost = unanswered ? lost + 1 : 0
    if (records.every(isRefused)) refusals.refused(records)
    else if (!unanswered || records.some(({ start }) => start !== null)) {
      await sealAll(records)
      for (const settled of refusals.answered()) await sealAll(settled)
    }
    if (lost >= 2 * inFlight)
      throw new HarnessError(
        'server-failed',
        `${lost} episodes in a row found no server. Start it again, and resume the run.`,
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
      // The plan is read no further ahead than the next episode that will start.
      while (limit.pendingCount > 0 && !signal.aborted) await freed.promise
    }
  } catch (error) {
    // A plan that cannot be read on: what is in flight is let go before anyone hears of it.
    fail(error)
  }
  await Promise.all(running)
  if (failures.length === 0 && !signal.aborted)
    try {
      for (const settled of refusals.finish()) await sealAll(settled)
    } catch (error) {
      fail(error)
    }
  if (failures.length > 0) throw failures[0]
}

/** Whether the server of a language model refused it for good. */
function isRefused({ outcome }: EpisodeRecord): boolean {
  return outcome.kind === 'failed' && outcome.error.code === 'model-refused'
}

/** Whether it found nobody there. */
function isUnanswered({ outcome }: EpisodeRecord): boolean {
  return outcome.kind === 'failed' && outcome.error.code === 'connection-failed'
}
