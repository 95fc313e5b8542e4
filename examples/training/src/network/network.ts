import { createRng } from '@episodic/protocol'
import { defaultDevice, init, jit, nn, numpy as np, type Array as Tensor, valueAndGrad } from '@jax-js/jax'

/** Numbers of 32 bits, which is what the network computes with. */
export type Numbers = Float32Array<ArrayBuffer>

/** The weights and biases of a network, each as a flat list of numbers, row by row. */
export interface Parameters {
  readonly hiddenWeights: Numbers
  readonly hiddenBiases: Numbers
  readonly policyWeights: Numbers
  readonly policyBiases: Numbers
  readonly valueWeights: Numbers
  readonly valueBiases: Numbers
}

/** The same as tensors. A type alias, because the library takes no interface for a tree of tensors. */
export type ParameterTensors = { [name in keyof Parameters]: Tensor }

/** What a network says about a batch of inputs: the logarithms of the probabilities of the actions, and the values. */
export interface Predictions {
  readonly logProbabilities: Tensor
  readonly values: Tensor
}

export interface NetworkSizes {
  readonly inputs: number
  readonly hidden: number
  readonly actions: number
}

/** A loss of a batch: its columns have a row for each step. */
export type Loss<Columns extends { [name: string]: Tensor }> = (predictions: Predictions, columns: Columns) => Tensor

/** A column of a batch: its numbers row by row, and how many there are in a row. */
export interface Column {
  readonly values: Numbers
  readonly width: number
}

/** A network with one hidden layer, a head for the policy and a head for the value. */
export interface Network {
  readonly sizes: NetworkSizes
  /** Draws the first parameters. */
  initialize(seed: string): Parameters
  /** Returns the probabilities of the actions and the values, for inputs row by row. */
  predict(parameters: Parameters, inputs: Numbers): { probabilities: Numbers; values: Numbers }
  /** Returns a function that computes a loss and its gradient. */
  differentiate<Columns extends { [name: string]: Tensor }>(loss: Loss<Columns>): Derivative<Columns>
}

/** Computes the loss of a batch, and its gradient. */
export type Derivative<Columns> = (
  parameters: Parameters,
  inputs: Numbers,
  columns: { readonly [name in keyof Columns]: Column },
) => { loss: number; gradient: Parameters }

/** The part of the network that is computed: two heads on a hidden layer. */
function compute(parameters: ParameterTensors, inputs: Tensor): Predictions {
  const { hiddenWeights, hiddenBiases, policyWeights, policyBiases, valueWeights, valueBiases } = parameters
  const hidden = np.tanh(np.dot(inputs, hiddenWeights).add(hiddenBiases))
  // A tensor is freed by its last use: `ref` says that another one follows.
  const logits = np.dot(hidden.ref, policyWeights).add(policyBiases)
  const values = np.dot(hidden, valueWeights).add(valueBiases).reshape([-1])
  return { logProbabilities: nn.logSoftmax(logits, -1), values }
}

/** Starts the library on WebAssembly, and returns a network whose functions are compiled at their first calls. */
export async function openNetwork(sizes: NetworkSizes): Promise<Network> {
  await init('wasm')
  defaultDevice('wasm')
  const { inputs, hidden, actions } = sizes
  const shapes: Readonly<Record<keyof Parameters, readonly number[]>> = {
    hiddenWeights: [inputs, hidden],
    hiddenBiases: [hidden],
    policyWeights: [hidden, actions],
    policyBiases: [actions],
    valueWeights: [hidden, 1],
    valueBiases: [1],
  }
  const names = Object.keys(shapes) as (keyof Parameters)[]
  const tensorsOf = (parameters: Parameters) =>
    Object.fromEntries(
      names.map((name) => [name, np.array(parameters[name]).reshape([...shapes[name]])]),
    ) as ParameterTensors
  const matrixOf = ({ values, width }: Column) => {
    const tensor = np.array(values)
    return width === 1 ? tensor : tensor.reshape([values.length / width, width])
  }

  const predict = jit((parameters: ParameterTensors, rows: Tensor) => {
    const { logProbabilities, values } = compute(parameters, rows)
    return [np.exp(logProbabilities), values] as [Tensor, Tensor]
  })

  return {
    sizes,
    initialize(seed) {
      const rng = createRng(seed)
      const draw = (name: keyof Parameters): Numbers => {
        const shape = shapes[name]
        const size = shape.reduce((product, side) => product * side, 1)
        // Biases start at 0, and a policy with small weights starts close to uniform.
        if (shape.length === 1) return new Float32Array(size)
        const bound = name === 'hiddenWeights' ? Math.sqrt(3 / inputs) : 0.1 / Math.sqrt(hidden)
        return Float32Array.from({ length: size }, () => (2 * rng.float() - 1) * bound)
      }
      return Object.fromEntries(names.map((name) => [name, draw(name)])) as unknown as Parameters
    },
    predict(parameters, rows) {
      const [probabilities, values] = predict(tensorsOf(parameters), matrixOf({ values: rows, width: inputs }))
      return {
        probabilities: probabilities.dataSync() as Numbers,
        values: values.dataSync() as Numbers,
      }
    },
    differentiate<Columns extends { [name: string]: Tensor }>(loss: Loss<Columns>): Derivative<Columns> {
      const derive = jit(
        valueAndGrad((parameters: ParameterTensors, rows: Tensor, columns: { [name: string]: Tensor }) =>
          loss(compute(parameters, rows), columns as Columns),
        ),
      )
      return (parameters, rows, columns) => {
        const tensors = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, matrixOf(column)]))
        const [value, gradient] = derive(tensorsOf(parameters), matrixOf({ values: rows, width: inputs }), tensors)
        const found = Object.fromEntries(names.map((name) => [name, gradient[name].dataSync()]))
        return { loss: value.js() as number, gradient: found as unknown as Parameters }
      }
    },
  }
}
