import { type Connection, connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { seedFor } from '@episodic/protocol'
import { createActor } from './actor.ts'
import { COURIERS } from './courier.ts'
import { fingerprint } from './fingerprint.ts'
import type { Hyperparameters } from './hyperparameters.ts'
import { learn, type TrainingState } from './learn.ts'
import { openNetwork } from './network.ts'
import { createRollouts } from './rollouts.ts'
import type { Trajectory } from './trajectory.ts'

export type CourierName = keyof typeof COURIERS

/** What a policy earns and what it achieves, after some episodes. */
export interface HackingPoint {
  readonly world: CourierName
  readonly seed: string
  readonly episodes: number
  /** The mean return: what is learned. */
  readonly return: number
  /** The share of parcels that are delivered: what is wanted. */
  readonly success: number
}

/** Fixed before the curves were made, and the same for both worlds. */
const SETTINGS: Hyperparameters = {
  episodes: 640,
  batch: 32,
  hidden: 32,
  loss: 'ppo',
  epochs: 4,
  minibatch: 512,
  learningRate: 0.01,
  discount: 0.99,
  lambda: 0.95,
  normalize: true,
  entropy: [0.02, 0],
}

/** Episodes of a point. The policy draws its actions, as in training. */
const EVALUATED = 96

export interface HackingOptions {
  readonly world: CourierName
  readonly seed: string
  /** Default: 640. */
  readonly episodes?: number | undefined
  /** Points of the curve, besides the one at the start. Default 20. */
  readonly points?: number | undefined
}

/** Trains a courier with PPO. Resolves with the points of its curve, and the SHA-256 of the parameters. */
export async function trainCourier(options: HackingOptions) {
  const { world: name, seed, episodes = SETTINGS.episodes, points: wanted = 20 } = options
  const world = COURIERS[name]
  const settings = { ...SETTINGS, episodes }
  await using host = createHost({ environments: [world.environment] })
  await using connection: Connection = await connect(inProcess(host))
  await using rollouts = createRollouts(connection, world, settings)
  const network = await openNetwork({ inputs: world.inputs, hidden: settings.hidden, actions: world.actions.length })

  const points: HackingPoint[] = []
  const evaluate = async (parameters: TrainingState['parameters'], played: number) => {
    const actor = createActor(network, parameters)
    const scores: Trajectory[] = []
    for (let first = 0; first < EVALUATED; first += settings.batch) {
      const seeds = Array.from({ length: settings.batch }, (_, at) => ({
        environment: seedFor('held out', 'episode', first + at),
        actions: seedFor('held out', 'actions', first + at),
      }))
      scores.push(...(await rollouts.play(actor, seeds)).trajectories)
    }
    const mean = (of: (score: Trajectory) => number) =>
      scores.reduce((sum, score) => sum + of(score), 0) / scores.length
    points.push({
      world: name,
      seed,
      episodes: played,
      return: mean((score) => score.return),
      success: mean(({ success }) => Number(success)),
    })
  }

  let parameters = network.initialize(seedFor(seed, 'parameters'))
  await evaluate(parameters, 0)
  for await (const { state } of learn({ world, rollouts, settings, seed })) {
    ;({ parameters } = state)
    if (state.played >= (points.length * episodes) / wanted) await evaluate(parameters, state.played)
  }
  return { points, parameters: fingerprint(parameters) }
}
