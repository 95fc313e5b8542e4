import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import type { Hyperparameters } from '../hyperparameters.ts'
import { COURIERS } from '../worlds/courier.ts'
import { runTraining, type TrainingPoint } from './run-training.ts'

export type CourierName = keyof typeof COURIERS

/** What a policy earns and what it achieves, after some episodes. */
export interface HackingPoint extends TrainingPoint {
  readonly world: CourierName
  readonly seed: string
  /** The share of parcels that are delivered: what is wanted. The return is what is learned. */
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
export async function trainCourier({ world: name, seed, episodes = SETTINGS.episodes, points = 20 }: HackingOptions) {
  const world = COURIERS[name]
  await using host = createHost({ environments: [world.environment] })
  await using connection = await connect(inProcess(host))
  const settings = { ...SETTINGS, episodes }
  const trained = await runTraining({ connection, world, settings, seed, points, evaluated: EVALUATED, drawn: true })
  return {
    // The world is no game, so its success is a number.
    points: trained.points.map((point) => ({ world: name, seed, ...point }) as HackingPoint),
    parameters: trained.parameters,
  }
}
