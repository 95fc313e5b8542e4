import { setTimeout as pause } from 'node:timers/promises'
import { type Environment, type Episode, runEpisode } from '@episodic/env'
import type { WatchedEnvironment } from '@episodic/env/extend'
import type { Action } from '@episodic/protocol'
import { HarnessError } from '../harness-error.ts'
import { policyFault } from '../policy-fault.ts'
import { policySeedOf } from '../run/plan/plan.ts'
import type { RunTask } from '../run/play/run-task.ts'
import { type Sealing, sealEpisode } from '../run/record/seal-episode.ts'
import type { Agent, Assignment } from './agent.ts'

export interface RunAgentTaskOptions {
  readonly agent: Agent
  readonly watch: () => WatchedEnvironment
  /** Applies the run's weights, shaping and limits to the watched environment. */
  readonly score: (environment: Environment) => Environment
  /** Returns the session URL of a capability. */
  readonly addressOf: (capability: string) => string
  /** The seed of the run. */
  readonly seed: string
  readonly discount: number
  /** What records keep of an action. Default: all of it. */
  readonly accept?: Sealing['accept']
  /** Seconds that an agent may take for an episode. */
  readonly seconds: number
}

/** Seconds that one `watch` request waits for a step. */
const WATCH_SECONDS = 20
/** Milliseconds for an agent to return after the end of the episode. */
const RETURN_TIMEOUT = 5_000

/** The agent stopped or took too long, so the episode was closed. */
class Left {
  readonly success: boolean | undefined

  constructor(success: boolean | undefined) {
    this.success = success
  }
}

/**
 * Plays with an agent: opens the episode, passes the session URL to the agent, and watches at the trainer endpoint. If the
 * agent stops before the end, the episode is `truncated` as `closed`, with the reward so far.
 */
export function createRunAgentTask(options: RunAgentTaskOptions): RunTask {
  const { agent, seed, discount, accept } = options
  return async (planned, { run, signal, now }) => {
    const started = now()
    const policySeed = policySeedOf(seed, planned)
    const episode = await watchEpisode(planned.task, policySeed, signal, options)
    if (signal.aborted && episode.kind === 'failed') return []
    const time = { started, ended: now() }
    const policy = { name: agent.name, seed: policySeed }
    // Steps of an agent are seen after the fact, so their times are unknown.
    const sealing = { run, policy, discount, time, timed: false, ...(accept && { accept }) }
    return [sealEpisode(episode, planned, sealing)]
  }
}

async function watchEpisode(
  task: Parameters<typeof runEpisode>[0]['task'] & object,
  policySeed: string,
  signal: AbortSignal,
  { agent, watch, score, addressOf, seconds }: RunAgentTaskOptions,
): Promise<Episode> {
  const watched = watch()
  const ended = new AbortController()
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
            return nextAction()
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
    ended.abort()
    const gone = new AbortController()
    const late = pause(RETURN_TIMEOUT, null, { signal: gone.signal }).catch(() => {})
    await Promise.race([playing, late])
    gone.abort()
  }

  async function play(assignment: Omit<Assignment, 'signal'>): Promise<void> {
    const limit = AbortSignal.any([ended.signal, signal, AbortSignal.timeout(seconds * 1_000)])
    limit.addEventListener('abort', () => left.abort(), { once: true })
    try {
      await agent.play({ ...assignment, signal: limit })
    } catch (cause) {
      if (!limit.aborted) failure = { cause }
    } finally {
      left.abort()
    }
  }

  /** Resolves with the next action. Throws the agent's error, or {@link Left} after the last action of an agent that stopped. */
  async function nextAction(): Promise<Action> {
    for (;;) {
      const gone = left.signal.aborted
      const action = await watched
        .next({ wait: gone ? 0 : WATCH_SECONDS, signal: gone ? signal : AbortSignal.any([signal, left.signal]) })
        .catch((cause: unknown) => {
          // The agent stopped during the request: there may be a last action.
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
