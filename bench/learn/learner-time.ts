import { type Connection, connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import {
  type AlgorithmName,
  createRollouts,
  HYPERPARAMETERS,
  type Hyperparameters,
  learn,
  learnTable,
  type Progress,
  type Rollouts,
  WORLDS,
} from '@episodic-example/training'
import { startChild } from '../child.ts'
import { round2 } from '../figures.ts'

/** Microseconds of CPU time that a training spends on each step, and the share of them that the environment has. */
export interface LearnerTime {
  /** Choosing actions. */
  readonly acting: number
  /** The update of the network, or of the table. */
  readonly update: number
  /** What the learner's process does for the environment: messages, and in process the environment too. */
  readonly client: number
  /** The server's process; 0 in process. */
  readonly server: number
  /** The share of client and server together. */
  readonly environmentShare: number
}

const WORLD = WORLDS['frozen-lake']
const LAKE = import.meta.resolve('@episodic/classics/frozen-lake')
/** Episodes of a measured training. Those of the first half are not counted: meanwhile code is compiled. */
const EPISODES = 640

/** The ways from a learner to its environment. */
const WAYS = ['in process', 'WebSocket', 'HTTP'] as const

/** A batch that was learned from. */
type Batch = Pick<Progress, 'rollout' | 'spent'> & { readonly played: number }

/** A learner: how many episodes it plays at once, and its training. */
interface Measured {
  readonly batch: number
  readonly discount: number
  train(rollouts: Rollouts): AsyncIterable<Batch>
}

/** The policy in a table, of the example's ablations, by REINFORCE. */
export const TABULAR: Measured = {
  batch: HYPERPARAMETERS['frozen-lake'].reinforce.batch,
  discount: HYPERPARAMETERS['frozen-lake'].reinforce.discount,
  train(rollouts) {
    const settings = { episodes: EPISODES, batch: this.batch, discount: this.discount, rate: 16 }
    return learnTable({ world: WORLD, rollouts, settings, seed: 'time' })
  },
}

/** The network of the curves, or a wider one. */
export function networkLearner(algorithm: AlgorithmName, hidden: number): Measured {
  const settings: Hyperparameters = { ...HYPERPARAMETERS['frozen-lake'][algorithm], hidden, episodes: EPISODES }
  return {
    batch: settings.batch,
    discount: settings.discount,
    async *train(rollouts) {
      for await (const { state, ...rest } of learn({ world: WORLD, rollouts, settings, seed: 'time' }))
        yield { played: state.played, ...rest }
    },
  }
}

/**
 * Measures where the time of FrozenLake's learner goes, with the server in the same process, and in one of its own.
 *
 * It is CPU time, so that other programs do not change it. Nothing that overlaps is taken off: with a free core for the
 * server, the learner waits for less than client and server take together.
 */
export async function measureLearnerTime(learner: Measured): Promise<Record<string, LearnerTime>> {
  const found: Record<string, LearnerTime> = {}
  for (const way of WAYS) {
    if (way === 'in process') {
      await using host = createHost({ environments: [WORLD.environment] })
      await using connection = await connect(inProcess(host))
      found[way] = await measure(connection, learner, async () => 0)
      continue
    }
    using server = await startChild<{ trainerUrl: string; token: string }>('servers/world-server.ts', LAKE)
    const { trainerUrl, token } = server.ready
    await using connection = await connect({
      url: way === 'HTTP' ? trainerUrl : trainerUrl.replace(/^http/, 'ws'),
      token,
    })
    const used = async () => 1_000 * (await server.ask<{ seconds: number }>('cpu')).seconds
    found[way] = await measure(connection, learner, used)
  }
  return found
}

/** @param serverTime Resolves with the milliseconds of CPU time that the server has used. */
async function measure(
  connection: Connection,
  learner: Measured,
  serverTime: () => Promise<number>,
): Promise<LearnerTime> {
  await using rollouts = createRollouts(connection, WORLD, learner)
  let [steps, acting, environment, network] = [0, 0, 0, 0]
  let before: number | null = null
  for await (const { played, rollout, spent } of learner.train(rollouts)) {
    if (played < EPISODES / 2) continue
    if (before === null) {
      before = await serverTime()
      continue
    }
    steps += rollout.steps
    acting += rollout.acting
    environment += spent.environment
    network += spent.network
  }
  const server = (await serverTime()) - (before ?? 0)
  const each = (milliseconds: number) => Math.round((1_000 * milliseconds) / steps)
  return {
    acting: each(acting),
    update: each(network - acting),
    client: each(environment),
    server: each(server),
    environmentShare: round2((environment + server) / (environment + server + network)),
  }
}
