import { setTimeout as pause } from 'node:timers/promises'
import { type Environment, type Episode, runEpisode } from '@episodic/env'
import type { WatchedEnvironment } from '@episodic/env/extend'
import { type Action, seedFor } from '@episodic/protocol'
import { HarnessError } from '../harness-error.ts'
import { policyFault } from '../policy-fault.ts'
import type { PlayPlanned } from '../run/play-planned.ts'
import { type Sealing, sealEpisode } from '../run/seal-episode.ts'
import type { Agent, Assignment } from './agent.ts'

export interface PlayAgentOptions {
  readonly agent: Agent
  readonly watch: () => WatchedEnvironment
  /** Weighs and shapes the rewards of what is watched. */
  readonly score: (environment: Environment) => Environment
  /** The address of the session that has a capability. */
  readonly addressOf: (capability: string) => string
  /** Of the run. */
  readonly seed: string
  readonly discount: number
  /** What lines keep of an action. Default: all of it. */
  readonly accept?: Sealing['accept']
  /** Seconds that an agent may take for an episode. */
  readonly seconds: number
}

/** Seconds that one look at the world waits for a step. */
const LOOK = 20
/** Milliseconds that an agent has to come back in, once it was told that the world is over. */
const LEAVE = 5_000

/** The agent has had enough, or has taken too long: there is no more to watch, and the episode was closed. */
class Left {
  readonly success: boolean | undefined

  constructor(success: boolean | undefined) {
    this.success = success
  }
}

/**
 * Plays with an agent: opens the world, hands the agent the address of its session, and watches at the trainer endpoint. An
 * episode that the agent leaves before the world has ended is `truncated` as `closed`, with what it earned by then.
 */
export function createPlayAgent(options: PlayAgentOptions): PlayPlanned {
  const { agent, seed, discount, accept } = options
  return async ({ task, attempt }, { run, signal, now }) => {
    const started = now()
    const policySeed = seedFor(seed, 'policy', task.id, attempt)
    const episode = await watchEpisode(task, policySeed, signal, options)
    if (signal.aborted && episode.kind === 'failed') return []
    const time = { started, ended: now() }
    const policy = { name: agent.name, seed: policySeed }
    // An agent's steps are seen once they are over, so their times are not known.
    const sealing = { run, policy, discount, time, timed: false, ...(accept && { accept }) }
    return [sealEpisode(episode, { task, attempt }, sealing)]
  }
}

async function watchEpisode(
  task: Parameters<typeof runEpisode>[0]['task'] & object,
  policySeed: string,
  signal: AbortSignal,
  { agent, watch, score, addressOf, seconds }: PlayAgentOptions,
): Promise<Episode> {
  const watched = watch()
  const over = new AbortController()
  const left = new AbortController()
  let playing: Promise<void> | null = null
  let failure: { readonly cause: unknown } | null = null
  try {
    const episode = await runEpisode({
      createEnvironment: () => score(watched),
      task,
      policySeed,
      signal,
      policy: {
        name: agent.name,
        start({ task, seed }) {
          return (observation) => {
            playing ??= play({ url: addressOf(watched.capability as string), task, observation, seed })
            return look()
          }
        },
      },
    })
    if (episode.kind === 'failed' && episode.cause instanceof Left && episode.start)
      return {
        kind: 'finished',
        start: episode.start,
        steps: episode.steps,
        end: { kind: 'truncated', reason: 'closed' },
        success: episode.cause.success,
      }
    return episode
  } finally {
    over.abort()
    const gone = new AbortController()
    const late = pause(LEAVE, null, { signal: gone.signal }).catch(() => {})
    await Promise.race([playing, late])
    gone.abort()
  }

  async function play(assignment: Omit<Assignment, 'signal'>): Promise<void> {
    const limit = AbortSignal.any([over.signal, signal, AbortSignal.timeout(seconds * 1_000)])
    limit.addEventListener('abort', () => left.abort(), { once: true })
    try {
      await agent.play({ ...assignment, signal: limit })
    } catch (cause) {
      if (!limit.aborted) failure = { cause }
    } finally {
      left.abort()
    }
  }

  /** Waits for the next action. Throws what the agent threw, and {@link Left} where it is gone and all that it did was seen. */
  async function look(): Promise<Action> {
    for (;;) {
      const gone = left.signal.aborted
      const action = await watched
        .next({ wait: gone ? 0 : LOOK, signal: gone ? signal : AbortSignal.any([signal, left.signal]) })
        .catch((cause: unknown) => {
          // It left while we looked: there may be a last action to see.
          if (!gone && left.signal.aborted && !signal.aborted) return null
          throw cause
        })
      if (action) return action
      if (!gone) continue
      if (failure) throw failureOf(failure.cause)
      throw new Left((await watched.finish({ signal })).success)
    }
  }

  function failureOf(cause: unknown): HarnessError {
    if (HarnessError.is(cause)) return cause
    return policyFault(`The agent "${agent.name}"`, cause)
  }
}
