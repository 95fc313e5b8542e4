import { type Action, DEFAULT_SEAT, type EpisodeEnd } from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/internal'
import { offeredTools } from '../policy/offered-tools.ts'
import { isUnplayable, unplayable } from '../policy/player-stop.ts'
import {
  conversationOf,
  type EarlierStep,
  type ModelAnswer,
  type Player,
  type PolicyContext,
} from '../policy/policy.ts'
import { createPlayer } from '../policy/resume-player.ts'
import type { StepResult } from '../session/step-result.ts'
import type { Environment, ResetResult } from './environment.ts'
import type { EpisodeOptions, PlayedStep } from './episode.ts'

export interface Playing {
  readonly environment: Environment
  readonly start: ResetResult
  /** The steps so far; `playOn` appends to it. */
  readonly steps: PlayedStep[]
  /** The step before the first of `steps`, of the episode that this one goes on from. */
  readonly before?: PlayedStep | undefined
  readonly player: Player
  /** The answers of a language model since the last step; emptied by each step. */
  readonly undecided: ModelAnswer[]
}

const NO_ANSWERS: readonly ModelAnswer[] = []

export function contextOf(
  environment: Environment,
  start: ResetResult,
  { policy, policySeed = policy.name, task: { prompt = '', hints = [] } = {} }: EpisodeOptions,
): PolicyContext {
  const { info } = environment
  const task = { prompt, hints, params: start.info.params }
  return { task, tools: offeredTools(info, start.observation), seed: policySeed, ...conversationOf(info, DEFAULT_SEAT) }
}

/** Plays until the episode has `until` steps or ends. Resolves with the end, or `null` if the episode goes on. */
export async function playOn(
  { environment, start, steps, before, player, undecided }: Playing,
  until: number,
  { signal, now = monotonic }: Pick<EpisodeOptions, 'signal' | 'now'>,
): Promise<EpisodeEnd | null> {
  let last: StepResult | null = steps.at(-1) ?? before ?? null
  let { observation } = steps.at(-1) ?? start
  const onCompletion = (answer: ModelAnswer) => void undecided.push(answer)
  const { info } = environment
  const legal = environment.legal && (() => (environment.legal as NonNullable<Environment['legal']>)({ signal }))
  while (steps.length < until) {
    signal?.throwIfAborted()
    const tools = info.offers && offeredTools(info, observation)
    const action = await player(observation, { last, tools, legal, signal, onCompletion })
    const sent = now()
    last = await environment.step(action, { signal }).catch((error: unknown) => {
      throw isUnplayable(error) ? unplayable(error) : error
    })
    const milliseconds = now() - sent
    steps.push({ ...last, action, completions: undecided.length > 0 ? undecided.splice(0) : NO_ANSWERS, milliseconds })
    if (last.end) return last.end
    observation = last.observation
  }
  return null
}

export async function playGiven(
  environment: Environment,
  action: Action,
  { signal, now = monotonic }: Pick<EpisodeOptions, 'signal' | 'now'>,
): Promise<PlayedStep> {
  const sent = now()
  const step = await environment.step(action, { signal })
  return { ...step, action, completions: NO_ANSWERS, milliseconds: now() - sent }
}

/** Creates a player that takes over an episode after `steps`, see `Policy.resume`. */
export function resumePlayer(
  environment: Environment,
  start: ResetResult,
  steps: readonly PlayedStep[],
  options: EpisodeOptions,
): Promise<Player> {
  const earlier = steps.map(({ action, completions, milliseconds: _, ...step }, i): EarlierStep => {
    const { observation } = steps[i - 1] ?? start
    return { observation, action, step, answers: completions }
  })
  const { policy, signal } = options
  return createPlayer(policy, contextOf(environment, start, options), earlier, { game: environment, signal })
}
