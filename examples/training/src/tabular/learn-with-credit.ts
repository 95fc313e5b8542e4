import { environment } from '@episodic/classics/frozen-lake'
import { type Connection, type Episode, runEpisode, runWithAdvantages } from '@episodic/env'
import { type Observation, seedFor } from '@episodic/protocol'
import { createTabularLearner, type TabularStep } from './tabular-learner.ts'

export type Credit = 'returns' | 'forks'

/** Fixed before `SEEDS` were run; the rates are the best of 1, 4 and 16. */
const SETTINGS = {
  batch: 16,
  discount: 0.99,
  pairs: 2,
  rate: { returns: 16, forks: 16 },
  /** The share of successes among the last episodes that ends a training. */
  target: 0.9,
  last: 100,
  mostEpisodes: 20_000,
} as const

/** How long a learner took until it crossed the lake often. */
export interface LearnedCredit {
  readonly credit: Credit
  readonly seed: string
  /** Episodes until the target was reached; `null` if it was not after the most episodes. */
  readonly episodes: number | null
  /** Steps of these episodes, and steps that were played in forks beside them. */
  readonly steps: number
  readonly forkedSteps: number
}

export interface CreditOptions {
  readonly credit: Credit
  readonly seed: string
  readonly rate?: number | undefined
  readonly mostEpisodes?: number | undefined
}

/**
 * Trains a tabular policy in FrozenLake 4×4 on firm ice, by the policy gradient, until 90 % of its last 100 training
 * episodes reached the goal.
 *
 * @param credit - what a step is worth: its return less the mean of the returns from its tile so far (REINFORCE with a
 * baseline), or its advantage from forks.
 */
export async function learnWithCredit(
  connection: Connection,
  { credit, seed, rate = SETTINGS.rate[credit], mostEpisodes = SETTINGS.mostEpisodes }: CreditOptions,
): Promise<LearnedCredit> {
  const moves = ['left', 'down', 'right', 'up'].map((direction) => ({ tool: 'move', arguments: { direction } }))
  const learner = createTabularLearner('tabular', moves, tileOf)
  const baseline = new Map<string, { sum: number; count: number }>()
  const ends: boolean[] = []
  let [episodes, steps, forkedSteps] = [0, 0, 0]
  while (episodes < mostEpisodes) {
    const played = await Promise.all(
      Array.from({ length: SETTINGS.batch }, async (_, i) => {
        const options = {
          createEnvironment: () => connection.environment(environment.name),
          policy: learner.policy,
          task: { params: { map: '4x4', slippery: false } },
          seed: seedFor(seed, 'episode', episodes + i),
          policySeed: seedFor(seed, 'actions', episodes + i),
        }
        if (credit === 'returns') return { episode: finished(await runEpisode(options)), advantages: null }
        const { pairs, discount } = SETTINGS
        const { episode, advantages, forkedSteps: forked } = await runWithAdvantages({ ...options, pairs, discount })
        forkedSteps += forked
        return { episode: finished(episode), advantages }
      }),
    )
    const learned: TabularStep[] = []
    for (const { episode, advantages } of played) {
      steps += episode.steps.length
      ends.push(episode.end.reason === 'goal')
      let earned = 0
      for (const [at, { action, reward }] of [...episode.steps.entries()].reverse()) {
        earned = reward.total + SETTINGS.discount * earned
        const { observation } = episode.steps[at - 1] ?? episode.start
        const state = tileOf(observation)
        const known = baseline.get(state) ?? { sum: 0, count: 0 }
        const advantage = advantages
          ? (advantages[at]?.advantage ?? 0)
          : earned - (known.count > 0 ? known.sum / known.count : 0)
        baseline.set(state, { sum: known.sum + earned, count: known.count + 1 })
        learned.push({ state, action: learner.numberOf(action), advantage: advantage / SETTINGS.batch })
      }
    }
    learner.learn(learned, rate)
    episodes += SETTINGS.batch
    const last = ends.slice(-SETTINGS.last)
    if (last.length === SETTINGS.last && last.filter(Boolean).length >= SETTINGS.target * SETTINGS.last)
      return { credit, seed, episodes, steps, forkedSteps }
  }
  return { credit, seed, episodes: null, steps, forkedSteps }
}

function finished(episode: Episode): Extract<Episode, { kind: 'finished' }> {
  if (episode.kind === 'failed') throw episode.cause
  return episode
}

function tileOf({ structured }: Observation): string {
  return String(structured?.position)
}
