import { createRng } from '@episodic/protocol'
import { numpy as np, type Array as Tensor } from '@jax-js/jax'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LOSSES, type LossColumns } from './losses.ts'
import { type Column, type Numbers, openNetwork, type Parameters } from './network.ts'

const SIZES = { inputs: 5, hidden: 4, actions: 3 }
const ROWS = 64

/** The loss, written again with numbers of 64 bits, so that finite differences of it are exact to many digits. */
function lossOf(
  name: keyof typeof LOSSES,
  parameters: Readonly<Record<keyof Parameters, Float64Array>>,
  inputs: Numbers,
  columns: Readonly<Record<keyof LossColumns, Column>>,
): number {
  const { hiddenWeights, hiddenBiases, policyWeights, policyBiases, valueWeights, valueBiases } = parameters
  const times = (row: ArrayLike<number>, weights: Float64Array, biases: Float64Array) =>
    Array.from(biases, (bias, to) =>
      Array.from(row).reduce(
        (sum, number, from) => sum + number * (weights[from * biases.length + to] as number),
        bias,
      ),
    )
  let loss = 0
  for (let row = 0; row < ROWS; row++) {
    const at = (column: keyof LossColumns) => columns[column].values[row] as number
    const hidden = times(
      inputs.subarray(row * SIZES.inputs, (row + 1) * SIZES.inputs),
      hiddenWeights,
      hiddenBiases,
    ).map(Math.tanh)
    const logits = times(hidden, policyWeights, policyBiases)
    const [value = 0] = times(hidden, valueWeights, valueBiases)
    const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0))
    const logProbabilities = logits.map((logit) => logit - total)
    const taken = columns.taken.values.subarray(row * SIZES.actions, (row + 1) * SIZES.actions).indexOf(1)
    const logProbability = logProbabilities[taken] ?? 0
    const ratio = Math.exp(logProbability - at('drawnWith'))
    const gain =
      name === 'reinforce'
        ? logProbability * at('advantages')
        : Math.min(ratio * at('advantages'), Math.min(1.2, Math.max(0.8, ratio)) * at('advantages'))
    const entropy = -logProbabilities.reduce((sum, log) => sum + Math.exp(log) * log, 0)
    loss += at('weights') * (0.5 * (value - at('targets')) ** 2 - gain - at('entropy') * entropy)
  }
  return loss
}

/** Parameters and a batch that follow from a seed. */
function drawProblem(initial: Parameters, seed: string) {
  const rng = createRng(seed)
  const numbers = (length: number, draw: () => number) => Float32Array.from({ length }, draw)
  const column = (draw: () => number): Column => ({ values: numbers(ROWS, draw), width: 1 })
  const taken = new Float32Array(ROWS * SIZES.actions)
  for (let row = 0; row < ROWS; row++) taken[row * SIZES.actions + rng.int(0, SIZES.actions - 1)] = 1
  const parameters = Object.fromEntries(
    Object.entries(initial).map(([name, values]) => [name, numbers(values.length, () => rng.float() - 0.5)]),
  ) as unknown as Parameters
  return {
    parameters,
    inputs: numbers(ROWS * SIZES.inputs, () => 2 * rng.float() - 1),
    columns: {
      taken: { values: taken, width: SIZES.actions },
      drawnWith: column(() => Math.log(0.1 + 0.8 * rng.float())),
      advantages: column(() => 4 * rng.float() - 2),
      targets: column(() => 4 * rng.float() - 2),
      weights: column(() => (rng.chance(0.8) ? 1 / ROWS : 0)),
      entropy: column(() => 0.1),
    },
    pick: rng.stream('pick'),
  }
}

describe('differentiate', async () => {
  const network = await openNetwork(SIZES)
  const initial = network.initialize('parameters')

  for (const name of Object.keys(LOSSES) as (keyof typeof LOSSES)[])
    it(`returns the gradient of the loss of ${name}: finite differences agree`, () => {
      const derive = network.differentiate(LOSSES[name])
      fc.assert(
        fc.property(fc.string(), (seed) => {
          const { parameters, inputs, columns, pick } = drawProblem(initial, seed)
          const { loss, gradient } = derive(parameters, inputs, columns)
          const exact = Object.fromEntries(
            Object.entries(parameters).map(([key, values]) => [key, Float64Array.from(values)]),
          ) as Record<keyof Parameters, Float64Array>
          expect(loss).toBeCloseTo(lossOf(name, exact, inputs, columns), 4)
          for (const [key, values] of Object.entries(exact) as [keyof Parameters, Float64Array][]) {
            const at = pick.int(0, values.length - 1)
            const value = values[at] as number
            const shifted = (by: number) => {
              values[at] = value + by
              const found = lossOf(name, exact, inputs, columns)
              values[at] = value
              return found
            }
            const slope = (shifted(1e-6) - shifted(-1e-6)) / 2e-6
            expect(gradient[key][at]).toBeCloseTo(slope, 4)
          }
        }),
        // The same draws each time: where a ratio is within rounding of PPO's limits, there is no one gradient.
        { numRuns: 20, seed: 1 },
      )
    })

  it('has another gradient for another loss, so that the comparison can fail', () => {
    const { parameters, inputs, columns } = drawProblem(initial, 'another')
    const squared = ({ logProbabilities, values }: { logProbabilities: Tensor; values: Tensor }, rest: LossColumns) => {
      for (const column of Object.values(rest)) column.dispose()
      logProbabilities.dispose()
      return np.square(values).sum()
    }
    const { gradient } = network.differentiate(squared)(parameters, inputs, columns)
    expect(gradient.policyBiases).toEqual(new Float32Array(SIZES.actions))
    expect(gradient.valueBiases[0]).not.toBe(0)
  })
})
