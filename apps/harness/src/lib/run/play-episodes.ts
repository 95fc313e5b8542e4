import { type BranchPoint, EnvError, type Environment, type Policy } from '@episodic/env'
import type { EpisodeRecord } from '@episodic/protocol'
import pLimit from 'p-limit'
import { HarnessError } from '../harness-error.ts'
import { countLeaves } from './count-leaves.ts'
import type { PlannedEpisode } from './plan.ts'
import { type PlayedAttempt, playRollout } from './play-rollout.ts'
import { sealEpisode } from './seal-episode.ts'

export interface PlayOptions {
  readonly run: string
  readonly createEnvironment: () => Environment
  readonly policy: Policy
  readonly seed: string
  readonly discount: number
  /** Makes a tree of episodes of each that is planned, forked at these points. Default: none. */
  readonly branch?: readonly BranchPoint[]
  /** Episodes in flight at once. A tree has all of its lines in flight, and one tree is played however many those are. */
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
 * because no server answered: nothing of it was played. A tree of episodes is dropped whole, and sealed at its end. One that lost its server on the way is sealed as failed. Where
 * the server is gone for good (as many episodes in a row as can be in flight, twice, found nobody there), it throws
 * `server-failed` and leaves the rest of the plan unplayed.
 */
export async function playEpisodes(plan: AsyncIterable<PlannedEpisode>, options: PlayOptions): Promise<void> {
  const { seal, elapsed = 0, branch = [] } = options
  const concurrency = Math.max(1, Math.floor(options.concurrency / countLeaves(branch)))
  const limit = pLimit(concurrency)
  const began = performance.now() - elapsed
  const now = () => performance.now() - began
  const stop = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal
  let freed = Promise.withResolvers<void>()
  let lost = 0

  const play = async (planned: PlannedEpisode): Promise<void> => {
    if (signal.aborted) return
    const { createEnvironment, policy, seed } = options
    const started = now()
    const played = await playRollout(planned, { createEnvironment, policy, seed, branch, signal, now })
    if (signal.aborted && played.some(({ episode }) => episode.kind === 'failed')) return
    const unanswered = played.every(isUnanswered)
    lost = unanswered ? lost + 1 : 0
    if (!unanswered || played.some(({ episode }) => episode.start !== null)) await keep(planned, played, started)
    if (lost >= 2 * concurrency)
      throw new HarnessError(
        'server-failed',
        `${lost} episodes in a row found no server. Start it again, and resume the run.`,
      )
  }
  const keep = async ({ task }: PlannedEpisode, played: readonly PlayedAttempt[], started: number) => {
    const { run, policy, discount } = options
    const records = played.map(({ attempt, episode, policySeed, branch, ended }) => {
      const sealing = {
        run,
        policy: { name: policy.name, seed: policySeed },
        discount,
        branch,
        time: { started, ended },
      }
      return sealEpisode(episode, { task, attempt }, sealing)
    })
    await Promise.all(records.map(seal))
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

/** Whether it found nobody there. */
function isUnanswered({ episode }: PlayedAttempt): boolean {
  return episode.kind === 'failed' && EnvError.is(episode.cause, 'connection-failed')
}
