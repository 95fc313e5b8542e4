import { EnvError, type Environment, type Episode, type Policy, runEpisode } from '@episodic/env'
import { type EpisodeRecord, seedFor } from '@episodic/protocol'
import pLimit from 'p-limit'
import { HarnessError } from '../harness-error.ts'
import type { PlannedEpisode } from './plan.ts'
import { sealEpisode } from './seal-episode.ts'

export interface PlayOptions {
  readonly run: string
  readonly createEnvironment: () => Environment
  readonly policy: Policy
  readonly seed: string
  readonly discount: number
  /** Episodes in flight at once. */
  readonly concurrency: number
  /** Milliseconds that earlier sittings of the run have taken, so that its time goes on where it stopped. */
  readonly elapsed?: number
  /** Keeps a record. What it throws stops the run. */
  readonly seal: (record: EpisodeRecord) => Promise<void>
  readonly signal?: AbortSignal | undefined
}

/**
 * Plays a plan with a bounded number of episodes in flight and seals each as it lands.
 *
 * After an abort, what is in flight is dropped unsealed, for a resumed run to play. So is an episode that never began
 * because no server answered: nothing of it was played. One that lost its server on the way is sealed as failed. Where
 * the server is gone for good (as many episodes in a row as can be in flight, twice, found nobody there), it throws
 * `server-failed` and leaves the rest of the plan unplayed.
 */
export async function playEpisodes(plan: AsyncIterable<PlannedEpisode>, options: PlayOptions): Promise<void> {
  const { concurrency, seal, elapsed = 0 } = options
  const limit = pLimit(concurrency)
  const began = performance.now() - elapsed
  const stop = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal
  let freed = Promise.withResolvers<void>()
  let lost = 0

  const play = async (planned: PlannedEpisode): Promise<void> => {
    if (signal.aborted) return
    const { task, attempt } = planned
    const policySeed = seedFor(options.seed, 'policy', task.id, attempt)
    const started = performance.now() - began
    // The world's seed is the task's own: the run's seed decides the tasks and the policy's draws, and no world.
    const { createEnvironment, policy } = options
    const episode = await runEpisode({ createEnvironment, policy, task, policySeed, signal })
    if (episode.kind === 'failed' && signal.aborted) return
    const unanswered = episode.kind === 'failed' && EnvError.is(episode.cause, 'connection-failed')
    lost = unanswered ? lost + 1 : 0
    if (!unanswered || episode.start !== null) await keep(episode, planned, policySeed, started)
    if (lost >= 2 * concurrency)
      throw new HarnessError(
        'server-failed',
        `${lost} episodes in a row found no server. Start it again, and resume the run.`,
      )
  }
  const keep = async (episode: Episode, planned: PlannedEpisode, policySeed: string, started: number) => {
    const policy = { name: options.policy.name, seed: policySeed }
    const time = { started, ended: performance.now() - began }
    await seal(sealEpisode(episode, planned, { run: options.run, policy, discount: options.discount, time }))
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
  if (failures.length > 0) throw failures[0]
}
