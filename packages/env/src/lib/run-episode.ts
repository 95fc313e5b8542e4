import type { Action, EpisodeEnd, Step } from '@episodic/protocol'
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
}

/**
 * Plays one episode to its end and returns what happened.
 *
 * Never rejects: a crash, an abort or a failed clean-up comes back as `failed`, with the steps that were played, so
 * one bad episode cannot take a run down or be scored as a bad answer.
 */
export async function runEpisode({
  createEnvironment,
  policy,
  task = {},
  seed,
  policySeed = policy.name,
  signal,
}: EpisodeOptions): Promise<Episode> {
  const steps: PlayedStep[] = []
  let start: Start | null = null
  try {
    await using environment = createEnvironment()
    start = await environment.reset(task, { seed, signal })
    const { prompt = '', hints = [] } = task
    const { tools } = environment.info
    const player = await policy.begin({ task: { prompt, hints, params: start.info.params }, tools, seed: policySeed })
    let { observation } = start
    let last: Step | null = null
    for (;;) {
      signal?.throwIfAborted()
      const action = await player(observation, { last, signal })
      const sent = performance.now()
      last = await environment.step(action, { signal })
      steps.push({ ...last, action, milliseconds: performance.now() - sent })
      if (last.end) return { kind: 'finished', start, steps, end: last.end }
      observation = last.observation
    }
  } catch (cause) {
    return { kind: 'failed', start, steps, cause }
  }
}
