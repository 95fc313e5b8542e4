import type { Rng } from '@episodic/protocol'
import type { Trajectory } from '../episodes/trajectory.ts'
import type { Hyperparameters } from '../hyperparameters.ts'
import { type AdamState, adamStep } from '../network/adam.ts'
import type { LossColumns } from '../network/losses.ts'
import type { Column, Derivative, Network, Numbers, Parameters } from '../network/network.ts'
import { advantagesOf } from './advantages.ts'

/** What an update changes. */
export interface Learned {
  readonly parameters: Parameters
  readonly optimizer: AdamState
}

/** The steps of a batch, with what the losses read of them. */
interface Batch {
  readonly inputs: readonly Numbers[]
  readonly taken: readonly number[]
  readonly drawnWith: readonly number[]
  readonly advantages: readonly number[]
  readonly targets: readonly number[]
}

/** Numbers of rows are rounded up to a power of two, at least this: a compiled function is for one number of rows. */
const FEWEST_ROWS = 64

/**
 * Learns from a batch of episodes.
 *
 * @param progress The share of the training that has been done.
 * @param rng Draws the minibatches.
 */
export function update(
  network: Network,
  derive: Derivative<LossColumns>,
  { parameters, optimizer }: Learned,
  trajectories: readonly Trajectory[],
  settings: Hyperparameters,
  progress: number,
  rng: Rng,
): Learned {
  const batch = prepare(network, parameters, trajectories, settings)
  const learningRate = settings.learningRate * (1 - progress)
  const entropy = settings.entropy[0] + (settings.entropy[1] - settings.entropy[0]) * progress
  const rows = [...batch.inputs.keys()]
  let learned: Learned = { parameters, optimizer }
  for (let epoch = 0; epoch < settings.epochs; epoch++) {
    const size = Math.min(settings.minibatch, rows.length)
    const order = size < rows.length ? rng.shuffle(rows) : rows
    for (let first = 0; first < order.length; first += size) {
      const chosen = order.slice(first, first + size)
      const { inputs, columns } = columnsOf(network, batch, chosen, entropy)
      const { gradient } = derive(learned.parameters, inputs, columns)
      const { parameters, state } = adamStep(learned.parameters, gradient, learned.optimizer, learningRate)
      learned = { parameters, optimizer: state }
    }
  }
  return learned
}

/** Computes the advantages of all steps, with the values and probabilities before the update. */
function prepare(
  network: Network,
  parameters: Parameters,
  trajectories: readonly Trajectory[],
  settings: Hyperparameters,
): Batch {
  const inputs = trajectories.flatMap((trajectory) => trajectory.inputs)
  const cutOff = trajectories.flatMap((trajectory) => trajectory.cutOff ?? [])
  const { probabilities, values } = network.predict(parameters, rowsOf([...inputs, ...cutOff], network.sizes.inputs))
  const { actions } = network.sizes
  const taken = trajectories.flatMap((trajectory) => trajectory.actions)
  const drawnWith = taken.map((action, row) => Math.log(probabilities[row * actions + action] as number))
  let [first, cut] = [0, inputs.length]
  const found = trajectories.map((trajectory) => {
    const own = values.subarray(first, first + trajectory.inputs.length)
    first += own.length
    const after = trajectory.cutOff ? (values[cut++] as number) : 0
    return advantagesOf(trajectory, [...own, after], settings)
  })
  const advantages = found.flatMap((trajectory) => trajectory.advantages)
  return {
    inputs,
    taken,
    drawnWith,
    advantages: settings.normalize ? normalized(advantages) : advantages,
    targets: found.flatMap(({ targets }) => targets),
  }
}

/** Returns numbers with the mean 0 and the standard deviation 1, so that the learning rate fits rewards of any size. */
function normalized(numbers: readonly number[]): number[] {
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length
  const variance = numbers.reduce((sum, number) => sum + (number - mean) ** 2, 0) / numbers.length
  return numbers.map((number) => (number - mean) / (Math.sqrt(variance) + 1e-8))
}

/** The chosen rows of a batch as columns. Rows of weight 0 fill them. */
function columnsOf({ sizes }: Network, batch: Batch, chosen: readonly number[], entropy: number) {
  const inputs = rowsOf(
    chosen.map((row) => batch.inputs[row] as Numbers),
    sizes.inputs,
  )
  const rows = inputs.length / sizes.inputs
  const column = (of: (row: number) => number): Column => {
    const values = new Float32Array(rows)
    for (const [at, row] of chosen.entries()) values[at] = of(row)
    return { values, width: 1 }
  }
  const taken = new Float32Array(rows * sizes.actions)
  for (const [at, row] of chosen.entries()) taken[at * sizes.actions + (batch.taken[row] as number)] = 1
  return {
    inputs,
    columns: {
      taken: { values: taken, width: sizes.actions },
      drawnWith: column((row) => batch.drawnWith[row] as number),
      advantages: column((row) => batch.advantages[row] as number),
      targets: column((row) => batch.targets[row] as number),
      weights: column(() => 1 / chosen.length),
      entropy: column(() => entropy),
    },
  }
}

function rowsOf(inputs: readonly Numbers[], width: number): Numbers {
  const rows = Math.max(FEWEST_ROWS, 2 ** Math.ceil(Math.log2(inputs.length)))
  const values = new Float32Array(rows * width)
  for (const [row, input] of inputs.entries()) values.set(input, row * width)
  return values
}
