import type { Player, Policy } from '@episodic/env'
import { type EnvironmentDefinition, type Rehearsal, type RehearsedStep, rehearse } from '@episodic/mcp-server'
import { type Action, type JsonObject, type Observation, type Step, seedFor, type Truncation } from '@episodic/protocol'
import type { Setting } from './subject.ts'

/** A step of an episode that was played by the rules alone. */
export interface PlayedStep extends RehearsedStep {
  readonly action: Action
  /** The sum of its terms. */
  readonly reward: number
}

/** An episode that was played by the rules alone: no session and no server. */
export interface RehearsedEpisode {
  readonly rehearsal: Rehearsal
  readonly steps: readonly PlayedStep[]
  /** The sum of all terms of all steps. */
  readonly total: number
  /** What the rules threw, where they did; the episode ends with it. */
  readonly fault: Error | null
}

export interface EpisodeSetting {
  readonly environment: EnvironmentDefinition
  readonly setting: Setting
  /** The world's seed. */
  readonly seed: string
  readonly policy: Policy
  readonly privateState?: JsonObject
  readonly strict?: boolean
  /** Stops here, as a player does that goes away. */
  readonly maxSteps?: number
}

/** An episode on its way. */
export interface BegunEpisode {
  /** What has been played of it. */
  readonly episode: RehearsedEpisode
  /** Plays its next step. Resolves with whether it was played: not where the episode is over, nor where the rules throw. */
  advance(): Promise<boolean>
}

/** Plays one episode by the rules alone, to its end or its step limit. What the rules throw ends it as a fault. */
export async function rehearseEpisode(options: EpisodeSetting): Promise<RehearsedEpisode> {
  const begun = await beginEpisode(options)
  while (await begun.advance());
  return begun.episode
}

/** Begins an episode that is played by the rules alone, for whoever plays several at once. */
export async function beginEpisode(options: EpisodeSetting): Promise<BegunEpisode> {
  const { environment, setting, seed, policy, privateState, strict = false } = options
  const rehearsal = rehearse(environment, {
    params: setting.params,
    seed,
    strict,
    ...(privateState && { privateState }),
  })
  const player = await beginPlayer(policy, environment, setting, seed)
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

/** The budget that the next step uses up. */
export function truncationAt(played: number, { steps }: Setting): Truncation | null {
  return played + 1 >= steps ? 'step-limit' : null
}

/** Starts a policy as an episode does. Its chance depends on the world's seed and on its name. */
export async function beginPlayer(
  policy: Policy,
  { toolInfos: tools }: EnvironmentDefinition,
  { prompt, hints, params }: Setting,
  seed: string,
): Promise<Player> {
  return policy.start({ task: { prompt, hints, params }, tools, seed: seedFor(seed, 'policy', policy.name) })
}

/** The sum of a step's terms, each of weight 1. */
export function rewardOf({ terms }: Pick<RehearsedStep, 'terms'>): number {
  return Object.values(terms).reduce((sum, term) => sum + term, 0)
}

/** A rehearsed step as a player is shown it. */
export function asStep(step: RehearsedStep, seq: number): Step {
  const { observation, terms, end, potential, refused, stateHash } = step
  return {
    observation: observation as Observation,
    reward: { total: rewardOf(step), terms, shaping: 0 },
    end,
    info: { seq, potential, refused, stateHash, replayed: false },
  }
}
