import { createRng, seedFor } from '@episodic/protocol'
import { createActor } from '../episodes/actor.ts'
import { cpuTime } from '../episodes/cpu-time.ts'
import type { Rollouts } from '../episodes/rollouts.ts'
import type { Rollout } from '../episodes/trajectory.ts'
import type { Hyperparameters } from '../hyperparameters.ts'
import { createAdam } from '../network/adam.ts'
import { LOSSES } from '../network/losses.ts'
import { openNetwork } from '../network/network.ts'
import type { World } from '../worlds/world.ts'
import { type Learned, update } from './update.ts'

/** A training between two batches. With it, it goes on as if it had never stopped. */
export interface TrainingState extends Learned {
  /** Episodes that have been learned from. */
  readonly played: number
}

/** A batch that was learned from. */
export interface Progress {
  readonly state: TrainingState
  readonly rollout: Rollout
  /**
   * Milliseconds of CPU time of this process in the batch. `environment` is what was used until the last episode had
   * ended, except for choosing actions; `network` is the rest.
   */
  readonly spent: { readonly environment: number; readonly network: number }
}

export interface LearnOptions {
  readonly world: World
  readonly rollouts: Rollouts
  readonly settings: Hyperparameters
  /** Everything that is drawn follows from it. */
  readonly seed: string
  /** Where to go on. Default: the start. */
  readonly from?: TrainingState | undefined
}

/**
 * Trains a network, and yields after each batch.
 *
 * The seeds of an episode follow from its number, and not from what was drawn before it. So a training that goes on
 * from a checkpoint, or whose episodes had to be played again, ends with the same parameters, bit for bit.
 */
export async function* learn({ world, rollouts, settings, seed, from }: LearnOptions): AsyncGenerator<Progress> {
  const network = await openNetwork({ inputs: world.inputs, hidden: settings.hidden, actions: world.actions.length })
  const derive = network.differentiate(LOSSES[settings.loss])
  let state = from ?? startOf(network.initialize(seedFor(seed, 'parameters')))
  while (state.played < settings.episodes) {
    const { played } = state
    const size = Math.min(settings.batch, settings.episodes - played)
    const seeds = Array.from({ length: size }, (_, at) => ({
      environment: seedFor(seed, 'training episode', played + at),
      actions: seedFor(seed, 'actions', played + at),
    }))
    const began = cpuTime()
    const rollout = await rollouts.play(createActor(network, state.parameters), seeds)
    const environment = cpuTime() - began - rollout.acting
    const rng = createRng(seedFor(seed, 'minibatches', played))
    const progress = played / settings.episodes
    const learned = update(network, derive, state, rollout.trajectories, settings, progress, rng)
    state = { ...learned, played: played + size }
    const whole = cpuTime() - began
    yield { state, rollout, spent: { environment, network: whole - environment } }
  }
}

function startOf(parameters: TrainingState['parameters']): TrainingState {
  return { parameters, optimizer: createAdam(parameters), played: 0 }
}
