import type { Player, Policy } from '@episodic/env'
import { type EnvironmentDefinition, type Rehearsal, type RehearsedStep, rehearse } from '@episodic/mcp-server'
import { type Action, type JsonObject, type Observation, type Step, seedFor, type Truncation } from '@episodic/protocol'
import type { CheckedWorld, Setting } from './check-context.ts'

/** A step of a rehearsed episode. */
export interface PlayedStep extends RehearsedStep {
  readonly action: Action
  /** The sum of its terms, each with weight 1. */
  readonly reward: number
}

/** An episode of the rules alone, without session and server. */
export interface RehearsedEpisode {
  readonly rehearsal: Rehearsal
  readonly steps: readonly PlayedStep[]
  /** The sum of all terms of all steps. */
  readonly total: number
  /** The error of the rules that ended the episode, if any. */
  readonly fault: Error | null
}

export interface EpisodeSetting {
  readonly environment: EnvironmentDefinition
  readonly setting: Setting
  /** The seed of the environment. */
  readonly seed: string
  readonly policy: Policy
  readonly privateState?: JsonObject
  readonly strict?: boolean
  /** Stops after this many steps, like a player who leaves. */
  readonly maxSteps?: number
}

/** An episode in progress. */
export interface OngoingEpisode {
  /** The episode so far. */
  readonly episode: RehearsedEpisode
  /** Plays the next step. Resolves with `false` if the episode is over or the rules throw. */
  advance(): Promise<boolean>
}

/** Plays one episode of the rules alone to its end or its step limit. An error of the rules ends it as a fault. */
export async function rehearseEpisode(options: EpisodeSetting): Promise<RehearsedEpisode> {
  const ongoing = await startEpisode(options)
  while (await ongoing.advance());
  return ongoing.episode
}

/** Starts an episode of the rules alone, to be advanced step by step. */
export async function startEpisode(options: EpisodeSetting): Promise<OngoingEpisode> {
  const { environment, setting, seed, policy, privateState, strict = false } = options
  const rehearsal = rehearse(environment, {
    params: setting.params,
    seed,
    strict,
    ...(privateState && { privateState }),
  })
  const player = await startPlayer(policy, environment, setting, seed)
  const steps: PlayedStep[] = []
  let last: Step | null = null
  const most = Math.min(setting.steps, options.maxSteps ?? setting.steps)
  let total = 0
  let fault: Error | null = null
  return {
    get episode() {
      return { rehearsal, steps, total, fault }
    },
    async advance() {
      if (fault || steps.length >= most || rehearsal.end !== null) return false
      const action: Action = await player(rehearsal.observation, { last })
      let step: RehearsedStep
      try {
        step = rehearsal.play(action.tool, action.arguments, { truncation: truncationAt(steps.length, setting) })
      } catch (cause) {
        fault = cause as Error
        return false
      }
      const reward = rewardOf(step)
      total += reward
      steps.push({ ...step, action, reward })
      last = asStep(step, steps.length)
      return true
    },
  }
}

/** `step-limit` if the next step is the last one allowed. */
export function truncationAt(played: number, { steps }: Setting): Truncation | null {
  return played + 1 >= steps ? 'step-limit' : null
}

/** Starts a policy as an episode does. Its random draws depend on the environment's seed and the policy's name. */
export async function startPlayer(
  policy: Policy,
  { toolInfos: tools }: EnvironmentDefinition,
  { prompt, hints, params }: Setting,
  seed: string,
): Promise<Player> {
  return policy.start({ task: { prompt, hints, params }, tools, seed: seedFor(seed, 'policy', policy.name) })
}

/** The sum of a step's terms, each with weight 1. */
export function rewardOf({ terms }: Pick<RehearsedStep, 'terms'>): number {
  return Object.values(terms).reduce((sum, term) => sum + term, 0)
}

/** A rehearsed step as a player receives it. */
export function asStep(step: RehearsedStep, seq: number): Step {
  const { observation, terms, end, potential, refused, stateHash } = step
  return {
    observation: observation as Observation,
    reward: { total: rewardOf(step), terms, shaping: 0 },
    end,
    info: { seq, potential, refused, stateHash, replayed: false },
  }
}

/**
 * Returns a source of actions that needs no results: it plays them in a rehearsal of its own, so that they make sense
 * in the session that they are sent to. After the end of its episode it repeats the last action.
 */
export async function rehearsedActions(
  { environment }: CheckedWorld,
  setting: Setting,
  policy: Policy,
  { seed, privateState }: { readonly seed: string; readonly privateState: JsonObject },
): Promise<() => Promise<Action>> {
  const rehearsal = rehearse(environment, { params: setting.params, seed, privateState })
  const player = await startPlayer(policy, environment, setting, seed)
  let last: Step | null = null
  let action: Action | null = null
  let steps = 0
  return async () => {
    if (action && rehearsal.end !== null) return action
    action = await player(rehearsal.observation, { last })
    try {
      last = asStep(rehearsal.play(action.tool, action.arguments), ++steps)
    } catch {
      // An error of the rules leaves the state unchanged.
    }
    return action
  }
}
