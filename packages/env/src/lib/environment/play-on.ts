import type { Completion, EpisodeEnd } from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/extend'
import type { Player, PolicyContext } from '../policy/policy.ts'
import type { Environment, ResetResult, StepResult } from './environment.ts'
import type { EpisodeOptions, PlayedStep } from './episode.ts'

/** An episode that is being played. */
export interface Playing {
  readonly environment: Environment
  readonly start: ResetResult
  /** What was played so far; grows. */
  readonly steps: PlayedStep[]
  readonly player: Player
  /** What a language model was asked since the last step; grows, and begins anew with each. */
  readonly undecided: Completion[]
}

/** What a policy is told of an episode that has begun. */
export function contextOf(
  environment: Environment,
  start: ResetResult,
  { policy, policySeed = policy.name, task: { prompt = '', hints = [] } = {} }: EpisodeOptions,
): PolicyContext {
  return { task: { prompt, hints, params: start.info.params }, tools: environment.info.tools, seed: policySeed }
}

/** Plays on until so many steps are played, or the episode ends. Gives the end, and `null` where it goes on. */
export async function playOn(
  { environment, start, steps, player, undecided }: Playing,
  until: number,
  { signal, now = monotonic }: Pick<EpisodeOptions, 'signal' | 'now'>,
): Promise<EpisodeEnd | null> {
  let last: StepResult | null = steps.at(-1) ?? null
  let { observation } = last ?? start
  const onCompletion = (completion: Completion) => void undecided.push(completion)
  const legal = environment.legal && (() => (environment.legal as NonNullable<Environment['legal']>)({ signal }))
  while (steps.length < until) {
    signal?.throwIfAborted()
    const action = await player(observation, { last, legal, signal, onCompletion })
    const sent = now()
    last = await environment.step(action, { signal })
    const milliseconds = now() - sent
    steps.push({ ...last, action, completions: undecided.splice(0), milliseconds })
    if (last.end) return last.end
    observation = last.observation
  }
  return null
}
