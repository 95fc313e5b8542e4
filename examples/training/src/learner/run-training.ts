import type { Connection } from '@episodic/env'
import { seedFor } from '@episodic/protocol'
import { createActor } from '../episodes/actor.ts'
import { createAveragePolicy } from '../episodes/average-policy.ts'
import { createExploitability, playHeldOut, type Score } from '../episodes/held-out.ts'
import { createRollouts } from '../episodes/rollouts.ts'
import type { Hyperparameters } from '../hyperparameters.ts'
import { fingerprint } from '../network/fingerprint.ts'
import { openNetwork } from '../network/network.ts'
import type { World } from '../worlds/world.ts'
import { learn, type TrainingState } from './learn.ts'

/** What a policy scores in the course of its training. */
export interface TrainingPoint extends Score {
  /** Episodes that had been learned from. */
  readonly episodes: number
}

/** What a training ended with. */
export interface TrainingResult {
  readonly points: readonly TrainingPoint[]
  /** SHA-256 of the parameters. */
  readonly parameters: string
  readonly steps: number
  readonly failures: number
  /** Seconds, without those of the evaluation. */
  readonly seconds: number
  /** The share of this process's CPU time in the training that was used for the environment. See `Progress`. */
  readonly environmentShare: number
}

export interface TrainingOptions {
  readonly connection: Connection
  readonly world: World
  readonly settings: Hyperparameters
  readonly seed: string
  /** Points of the curve, besides the one at the start. Default 10. */
  readonly points?: number | undefined
  /** Held-out episodes of a point. Default 200. A game needs none. */
  readonly evaluated?: number | undefined
  /**
   * Whether the policy draws its actions in the held-out episodes, as in training. Default: it takes the most likely
   * ones.
   */
  readonly drawn?: boolean | undefined
  readonly onPoint?: ((point: TrainingPoint) => void) | undefined
}

/** Trains one network, and evaluates it at the start, in between and at the end. */
export async function runTraining(options: TrainingOptions): Promise<TrainingResult> {
  const { connection, world, settings, seed, points: wanted = 10, evaluated = 200, drawn } = options
  await using rollouts = createRollouts(connection, world, settings)
  const model = await openNetwork({ inputs: world.inputs, hidden: settings.hidden, actions: world.actions.length })
  const exploitability = world.environment.multiplayer ? createExploitability(world) : null
  const average = createAveragePolicy(world.actions.length)

  const points: TrainingPoint[] = []
  let [evaluating, environment, network, steps, failures] = [0, 0, 0, 0, 0]
  const evaluate = async (parameters: TrainingState['parameters'], episodes: number) => {
    const asked = performance.now()
    const score =
      exploitability?.(average) ??
      (await playHeldOut(rollouts, createActor(model, parameters), {
        episodes: evaluated,
        batch: settings.batch,
        drawn,
      }))
    const point = { episodes, ...score }
    points.push(point)
    options.onPoint?.(point)
    evaluating += performance.now() - asked
  }

  const began = performance.now()
  let parameters = model.initialize(seedFor(seed, 'parameters'))
  await evaluate(parameters, 0)
  for await (const { state, rollout, spent } of learn({ world, rollouts, settings, seed })) {
    ;({ parameters } = state)
    if (exploitability) average.add(rollout.trajectories)
    environment += spent.environment
    network += spent.network
    steps += rollout.steps
    failures += rollout.failures
    // A point after each equal part, and so one at the end.
    if (state.played >= (points.length * settings.episodes) / wanted) await evaluate(parameters, state.played)
  }
  return {
    points,
    parameters: fingerprint(parameters),
    steps,
    failures,
    seconds: (performance.now() - began - evaluating) / 1_000,
    environmentShare: environment / (environment + network),
  }
}
