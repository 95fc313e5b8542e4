import type { Numbers, Parameters } from './network.ts'

/** The state of the optimizer: running means of the gradient and of its square. */
export interface AdamState {
  readonly steps: number
  readonly means: Parameters
  readonly squares: Parameters
}

const [MEAN_DECAY, SQUARE_DECAY, EPSILON] = [0.9, 0.999, 1e-8]

/** A gradient that is longer is scaled down to this length. */
const LONGEST = 0.5

/** Returns the state before the first step. */
export function createAdam(parameters: Parameters): AdamState {
  const zeros = () => mapParameters(parameters, (values) => new Float32Array(values.length))
  return { steps: 0, means: zeros(), squares: zeros() }
}

/** Takes one step against a gradient (Kingma and Ba, "Adam: a method for stochastic optimization", 2015). */
export function adamStep(
  parameters: Parameters,
  gradient: Parameters,
  state: AdamState,
  learningRate: number,
): { parameters: Parameters; state: AdamState } {
  const steps = state.steps + 1
  const scale = Math.min(1, LONGEST / lengthOf(gradient))
  const running = (before: Parameters, decay: number, of: (slope: number) => number) =>
    mapParameters(before, (values, name) =>
      values.map((value, i) => decay * value + (1 - decay) * of(scale * (gradient[name][i] as number))),
    )
  const means = running(state.means, MEAN_DECAY, (slope) => slope)
  const squares = running(state.squares, SQUARE_DECAY, (slope) => slope * slope)
  const rate = (learningRate * Math.sqrt(1 - SQUARE_DECAY ** steps)) / (1 - MEAN_DECAY ** steps)
  const moved = mapParameters(parameters, (values, name) =>
    values.map(
      (value, i) => value - (rate * (means[name][i] as number)) / (Math.sqrt(squares[name][i] as number) + EPSILON),
    ),
  )
  return { parameters: moved, state: { steps, means, squares } }
}

function lengthOf(gradient: Parameters): number {
  let sum = 0
  for (const values of Object.values(gradient) as Numbers[]) for (const value of values) sum += value * value
  return Math.sqrt(sum)
}

function mapParameters(parameters: Parameters, map: (values: Numbers, name: keyof Parameters) => Numbers): Parameters {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, values]) => [name, map(values, name as keyof Parameters)]),
  ) as unknown as Parameters
}
