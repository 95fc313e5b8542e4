import { canonicalJson, type Json, seedFor } from '@episodic/protocol'
import { studentPoint } from '@episodic/protocol/internal'
import { EnvError, optionInvalid } from '../env-error.ts'
import { PlayerStop } from '../policy/player-stop.ts'
import type { Player } from '../policy/policy.ts'
import { closedEpisode } from '../session/closed-episode.ts'
import type { Fork } from './environment.ts'
import type { Episode, EpisodeOptions, PlayedStep } from './episode.ts'
import { type Playing, playOn, resumePlayer } from './play-on.ts'
import { playEpisode } from './run-episode.ts'

export interface AdvantageOptions extends EpisodeOptions {
  /** Pairs of lines for each step, k: from 2 to 1,000. Default 8. */
  readonly pairs?: number | undefined
  /** γ, which weighs what is earned t steps later with γ^t. Default 1. */
  readonly discount?: number | undefined
  /** The seed from which the chance of the forks and their policies follows. Default: `policySeed`. */
  readonly forkSeed?: string | undefined
  /**
   * Steps that the forks of the episode may play. No further step is estimated once they have played as many; the pairs
   * of one step are played to their ends. Default: no bound besides the limits of the environment.
   */
  readonly mostSteps?: number | undefined
}

/** What the action of one step was worth beside what the policy would have done. */
export interface StepAdvantage {
  /** Â, in the unit of reward: the mean of the differences; `null` if no pair finished. */
  readonly advantage: number | null
  /**
   * The 95 % interval of the advantage, by Student's t over the pairs; `null` with fewer than two of them, and if their
   * differences do not differ, as an interval of no width would claim too much.
   */
  readonly low: number | null
  readonly high: number | null
  /** Pairs that finished. A pair with a failed line has no difference, and is left out. */
  readonly pairs: number
  /** Pairs in which the policy took the same action, so that the difference is exactly 0. They are not played on. */
  readonly same: number
  /** Pairs that failed. */
  readonly failed: number
}

export interface EpisodeWithAdvantages {
  readonly episode: Episode
  /** One for each step of the episode; `null` for a step that was not estimated. */
  readonly advantages: readonly (StepAdvantage | null)[]
  readonly forkedSteps: number
}

/**
 * Plays one episode as `runEpisode` does, and estimates for each of its steps how much better the action was than what
 * the policy does on average: A(s, a) = Q(s, a) − Σ a′ π(a′ | s) Q(s, a′).
 *
 * Before each step the episode is forked into k pairs of lines. One line of a pair takes the action that was taken, the
 * other one an action that the policy draws; both are then played to their ends by the policy. The advantage is the
 * mean difference of their discounted returns from that step on. It is unbiased under the state with its hidden part,
 * for the policy as it is. A line that a limit cuts off counts with what it has earned until then.
 *
 * The formula is the counterfactual advantage of COMA (Foerster et al., "Counterfactual multi-agent policy gradients",
 * 2018, arXiv:1705.08926, equation 4), for one agent. Its terms are Monte Carlo estimates from resets to a visited
 * state: the "vine" of TRPO (Schulman et al., 2015, arXiv:1502.05477, section 5.2) and VinePPO (Kazemnejad et al.,
 * 2024, arXiv:2410.01679, section 4). Both lines of a pair have the same seeds, which are common random numbers.
 *
 * The steps are estimated from the first to the last, the lines of one step all at once. The same seeds give the same
 * result, however lines overtake each other. Does not reject after the episode has begun: a failed episode is estimated
 * as far as it was played, and a failed fork leaves its pairs out.
 *
 * Rejects with `not-forkable`, and with `option-invalid` for options out of range.
 */
export async function runWithAdvantages(options: AdvantageOptions): Promise<EpisodeWithAdvantages> {
  const { createEnvironment, signal, pairs = 8, discount = 1 } = options
  const { mostSteps = Number.POSITIVE_INFINITY } = options
  if (!(Number.isInteger(pairs) && pairs >= 2 && pairs <= 1_000 && discount >= 0 && discount <= 1 && mostSteps >= 0))
    throw optionInvalid(
      `Advantages need from 2 to 1,000 pairs, a discount from 0 to 1 and a bound of steps from 0; got ${pairs}, ${discount} and ${mostSteps}.`,
    )
  const environment = createEnvironment()
  if (!environment.info.forkable) {
    await environment.close()
    throw new EnvError('not-forkable', `${environment.info.name} cannot be forked, so its steps have no advantages.`)
  }
  const { start, steps, episode } = await playEpisode({ ...options, createEnvironment: () => environment })
  const advantages: (StepAdvantage | null)[] = []
  let forkedSteps = 0
  for (let at = 0; start && at < steps.length; at++) {
    const isOver = forkedSteps >= mostSteps || signal?.aborted
    const estimated = isOver ? null : await estimateStep({ environment, start, steps, at }, options)
    advantages.push(estimated?.advantage ?? null)
    forkedSteps += estimated?.played ?? 0
  }
  return { episode: await closedEpisode(environment, episode), advantages, forkedSteps }
}

interface Visited extends Pick<Playing, 'environment' | 'start'> {
  readonly steps: readonly PlayedStep[]
  /** The number of answered steps before it. */
  readonly at: number
}

async function estimateStep(
  visited: Visited,
  options: AdvantageOptions,
): Promise<{ readonly advantage: StepAdvantage; readonly played: number }> {
  const { pairs: count = 8, policy, policySeed = policy.name, forkSeed = policySeed, signal } = options
  const { environment, at } = visited
  const seed = seedFor(forkSeed, 'advantage', at)
  const fork = () => environment.fork({ count, at, seed, signal }).catch(() => null)
  const toEnd = (line: BegunFork | null) => playOut(visited, line, options)
  const owns = await fork()
  if (!owns) return { advantage: advantageOf([], 0, count), played: 0 }
  // A fork of the taken action is made only for pairs whose actions differ.
  const begun = await Promise.all(owns.map((own, i) => begin(visited, own, false, seedFor(seed, 'policy', i), options)))
  const takens = begun.some((line) => line?.differs) ? await fork() : []
  const played = await Promise.all(
    begun.map(async (line, i) => {
      if (!line?.differs) return { difference: line && 0, steps: line ? 1 : 0 }
      const taken = takens?.[i]
      const [own, other] = await Promise.all([
        toEnd(line),
        taken ? begin(visited, taken, true, seedFor(seed, 'policy', i), options).then(toEnd) : null,
      ])
      return {
        difference: own.earned === null || !other || other.earned === null ? null : other.earned - own.earned,
        steps: own.steps + (other?.steps ?? 0),
      }
    }),
  )
  await Promise.all([...owns, ...(takens ?? [])].map((line) => line.close().catch(() => {})))
  const differences = played.flatMap(({ difference }) => difference ?? [])
  const same = begun.filter((line) => line && !line.differs).length
  return {
    advantage: advantageOf(differences, same, count - differences.length),
    played: played.reduce((sum, { steps }) => sum + steps, 0),
  }
}

/** A line that has played its first step; `null` if it has failed. */
interface BegunFork extends Pick<Playing, 'steps' | 'player'> {
  readonly fork: Fork
  readonly differs: boolean
}

/**
 * Plays the first step of a fork: the action of the episode if `takes`, else one that the policy draws. The policy is
 * asked in both cases, so that its later draws are those of the other line.
 */
async function begin(
  visited: Visited,
  fork: Fork,
  takes: boolean,
  policySeed: string,
  options: AdvantageOptions,
): Promise<BegunFork | null> {
  const { start, at } = visited
  const taken = visited.steps[at] as PlayedStep
  try {
    const steps = visited.steps.slice(0, at)
    const player = await resumePlayer(fork, start, visited.steps.slice(0, at), { ...options, policySeed })
    const first: Player = async (observation, view) => {
      const drawn = await player(observation, view)
      return takes ? taken.action : drawn
    }
    await playOn({ environment: fork, start, steps, player: first, undecided: [] }, at + 1, options)
    return { fork, steps, player, differs: takes || toActionText(steps[at]) !== toActionText(taken) }
  } catch {
    return null
  }
}

/** Plays a line to its end. Resolves with what it has earned since the fork, and the steps of the fork. */
async function playOut(
  { start, at }: Visited,
  line: BegunFork | null,
  options: AdvantageOptions,
): Promise<{ readonly earned: number | null; readonly steps: number }> {
  if (!line) return { earned: null, steps: 0 }
  const { fork, steps, player } = line
  const { discount = 1 } = options
  let isOver = true
  try {
    if (!steps.at(-1)?.end)
      await playOn({ environment: fork, start, steps, player, undecided: [] }, Number.POSITIVE_INFINITY, options)
  } catch (cause) {
    // A line that its player ends counts with what it has earned, as the episode itself would.
    isOver = PlayerStop.is(cause)
  }
  const own = steps.slice(at)
  const earned = own.reduceRight((later, { reward }) => reward.total + discount * later, 0)
  return { earned: isOver ? earned : null, steps: own.length }
}

function toActionText(step: PlayedStep | undefined): string {
  return canonicalJson((step?.action ?? null) as unknown as Json)
}

function advantageOf(differences: readonly number[], same: number, failed: number): StepAdvantage {
  const count = differences.length
  const counts = { pairs: count, same, failed }
  if (count === 0) return { advantage: null, low: null, high: null, ...counts }
  const mean = differences.reduce((sum, difference) => sum + difference, 0) / count
  const squares = differences.reduce((sum, difference) => sum + (difference - mean) ** 2, 0)
  if (count === 1 || squares === 0) return { advantage: mean, low: null, high: null, ...counts }
  const half = studentPoint(count - 1) * Math.sqrt(squares / (count - 1) / count)
  return { advantage: mean, low: mean - half, high: mean + half, ...counts }
}
