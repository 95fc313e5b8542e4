import type { Action, EpisodeEnd, Step } from '@episodic/protocol'
import { monotonic } from './clock.ts'
import type { Environment, Playable, Start } from './environment.ts'
import type { Policy, PolicyContext } from './policy.ts'

/** One step of an episode, with what led to it. */
export interface PlayedStep extends Step {
  readonly action: Action
  /** From sending the action to having the answer. */
  readonly milliseconds: number
}

/** One play of a task. A failed one is our fault or the world's: counted apart, and never averaged in as a zero. */
export type Episode =
  | {
      readonly kind: 'finished'
      readonly start: Start
      readonly steps: readonly PlayedStep[]
      readonly end: EpisodeEnd
    }
  | {
      readonly kind: 'failed'
      readonly start: Start | null
      readonly steps: readonly PlayedStep[]
      readonly cause: unknown
    }

export interface EpisodeOptions {
  readonly createEnvironment: () => Environment
  readonly policy: Policy
  readonly task?: Playable & Partial<Pick<PolicyContext['task'], 'prompt' | 'hints'>>
  /** Seed of the world instead of the task's own. */
  readonly seed?: string | undefined
  /** Seed of the policy's chance. Default: the policy's name. */
  readonly policySeed?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Monotonic milliseconds, for the times of the steps. Default: the machine's. */
  readonly now?: () => number
}

/**
 * Plays one episode to its end, closes its environment and returns what happened.
 *
 * Never rejects: a crash, an abort or a failed clean-up comes back as `failed`, with the steps that were played, so
 * one bad episode cannot take a run down or be scored as a bad answer. Of several failures, `cause` is the first.
 */
export async function runEpisode(options: EpisodeOptions): Promise<Episode> {
  const steps: PlayedStep[] = []
  let start: Start | null = null
  let environment: Environment | null = null
  let episode: Episode
  try {
    environment = options.createEnvironment()
    const { task = {}, seed, signal } = options
    start = await environment.reset(task, { seed, signal })
    episode = { kind: 'finished', start, steps, end: await playToEnd(environment, start, steps, options) }
  } catch (cause) {
    episode = { kind: 'failed', start, steps, cause }
  }
  try {
    await environment?.close()
  } catch (cause) {
    if (episode.kind === 'finished') return { ...episode, kind: 'failed', cause }
  }
  return episode
}

async function playToEnd(
  environment: Environment,
  start: Start,
  steps: PlayedStep[],
  { policy, policySeed = policy.name, task: { prompt = '', hints = [] } = {}, signal, now = monotonic }: EpisodeOptions,
): Promise<EpisodeEnd> {
  const task = { prompt, hints, params: start.info.params }
  const player = await policy.begin({ task, tools: environment.info.tools, seed: policySeed })
  let { observation } = start
  let last: Step | null = null
  for (;;) {
    signal?.throwIfAborted()
    const action = await player(observation, { last, signal })
    const sent = now()
    last = await environment.step(action, { signal })
    steps.push({ ...last, action, milliseconds: now() - sent })
    if (last.end) return last.end
    observation = last.observation
  }
}
