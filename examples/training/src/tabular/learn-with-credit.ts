import { environment } from '@episodic/classics/frozen-lake'
import { type Connection, type Leaf, type Policy, runEpisode, runTree } from '@episodic/env'
import { advantages as creditOf } from '@episodic/env/advantages'
import { type Observation, seedFor } from '@episodic/protocol'
import { finished, playWithForks } from './fork-credit.ts'
import { createTabularLearner, type TabularStep } from './tabular-learner.ts'

export type Credit = 'returns' | 'forks' | 'group' | 'trees' | 'states'

/** Fixed before `SEEDS` were run; the rates are the best of 1, 4 and 16 with other seeds. */
const SETTINGS = {
  batch: 16,
  discount: 0.99,
  pairs: 2,
  rate: { returns: 16, forks: 16, group: 16, trees: 16, states: 16 },
  /** The steps at which each line of a tree is forked into two: one tree is a batch. */
  forks: [1, 3, 5, 7],
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
 * baseline), or its advantage from forks. In a batch of one seed: the return of its episode less the mean of the batch
 * (`group`, as GRPO), the same over the leaves below it of a tree (`trees`), or by the states that the batch shares.
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
    const played = isOfGroup(credit)
      ? await playGroup(connection, learner.policy, credit, seed, episodes)
      : await Promise.all(
          Array.from({ length: SETTINGS.batch }, async (_, i) => {
            const options = {
              createEnvironment: () => connection.environment(environment.name),
              policy: learner.policy,
              task: { params: { map: '4x4', slippery: false } },
              seed: seedFor(seed, 'episode', episodes + i),
              policySeed: seedFor(seed, 'actions', episodes + i),
            }
            if (credit === 'returns') return { episode: finished(await runEpisode(options)), advantages: null, own: 0 }
            const { forkedSteps: forked, ...played } = await playWithForks(options, SETTINGS.pairs, SETTINGS.discount)
            forkedSteps += forked
            return { ...played, own: 0 }
          }),
        )
    const learned: TabularStep[] = []
    for (const { episode, advantages, own } of played) {
      steps += episode.steps.length - own
      ends.push(episode.end.reason === 'goal')
      let earned = 0
      for (const [at, { action, reward }] of [...episode.steps.entries()].reverse()) {
        earned = reward.total + SETTINGS.discount * earned
        const { observation } = episode.steps[at - 1] ?? episode.start
        const state = tileOf(observation)
        const known = baseline.get(state) ?? { sum: 0, count: 0 }
        const advantage = advantages
          ? (advantages[at] as number)
          : earned - (known.count > 0 ? known.sum / known.count : 0)
        baseline.set(state, { sum: known.sum + earned, count: known.count + 1 })
        // What a leaf shares is learned once.
        if (at < own) continue
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

function isOfGroup(credit: Credit): credit is 'group' | 'trees' | 'states' {
  return credit !== 'returns' && credit !== 'forks'
}

/** Plays a batch of one seed: a tree, or rollouts. `own` is the first step of each that no other one has. */
async function playGroup(
  connection: Connection,
  policy: Policy,
  credit: 'group' | 'trees' | 'states',
  seed: string,
  episodes: number,
) {
  const options = (policySeed: string) => ({
    createEnvironment: () => connection.environment(environment.name),
    policy,
    task: { params: { map: '4x4', slippery: false } },
    seed: seedFor(seed, 'episode', episodes),
    policySeed,
  })
  const points = SETTINGS.forks.map((at) => ({ lines: 2, at }))
  const leaves =
    credit === 'trees'
      ? await runTree({
          ...options(seedFor(seed, 'actions', episodes)),
          points,
          branchSeed: seedFor(seed, 'tree', episodes),
        })
      : await Promise.all(
          Array.from({ length: SETTINGS.batch }, async (_, i) => ({
            ...{ path: [], at: [], episode: await runEpisode(options(seedFor(seed, 'actions', episodes + i))) },
          })),
        )
  const rollouts = leaves.map(({ path, at, episode }: Pick<Leaf, 'path' | 'at' | 'episode'>, leaf) => ({
    steps: finished(episode).steps.map(({ action, reward, info }, step) => ({
      action,
      reward: reward.total,
      stateHash: info.stateHash,
      sample:
        credit === 'trees'
          ? `${step} ${path.slice(0, at.filter((fork) => fork <= step).length).join()}`
          : `${step} of ${leaf}`,
    })),
  }))
  const credited = creditOf(rollouts, { discount: SETTINGS.discount, stateWeight: credit === 'states' ? 1 : 0 })
  return leaves.map(({ path, at, episode }: Pick<Leaf, 'path' | 'at' | 'episode'>, leaf) => ({
    episode: finished(episode),
    advantages: credited.rollouts[leaf]?.steps.map(({ advantage }) => advantage) ?? [],
    own: at[path.findLastIndex((line) => line > 0)] ?? 0,
  }))
}

function tileOf({ structured }: Observation): string {
  return String(structured?.position)
}
