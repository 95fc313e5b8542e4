import type { Rng } from '@episodic/protocol'
import type { Network, Numbers, Parameters } from '../network/network.ts'

/** Chooses actions with fixed parameters. */
export interface Actor {
  /**
   * Returns the number of an action for each input; `null` for a `null`. Each place draws from its own random numbers,
   * so what one does changes no other. Without random numbers, it takes the most likely actions.
   */
  act(inputs: readonly (Numbers | null)[], rngs: readonly Rng[] | null): (number | null)[]
}

export function createActor({ predict, sizes }: Network, parameters: Parameters): Actor {
  const probabilitiesOf = (inputs: readonly (Numbers | null)[]) => {
    const rows = new Float32Array(inputs.length * sizes.inputs)
    for (const [place, input] of inputs.entries()) if (input) rows.set(input, place * sizes.inputs)
    const { probabilities } = predict(parameters, rows)
    return inputs.map((_, place) => probabilities.subarray(place * sizes.actions, (place + 1) * sizes.actions))
  }
  return {
    act(inputs, rngs) {
      const rows = probabilitiesOf(inputs)
      return inputs.map((input, place) => {
        if (!input) return null
        const row = rows[place] as Numbers
        return rngs ? actionAt(row, (rngs[place] as Rng).float()) : row.indexOf(Math.max(...row))
      })
    },
  }
}

/** Returns the number of the action on which a share from 0 to 1 falls. */
export function actionAt(probabilities: Numbers | readonly number[], share: number): number {
  let left = share
  for (const [action, probability] of probabilities.entries()) {
    left -= probability
    if (left < 0) return action
  }
  // Rounding may leave a rest.
  return probabilities.length - 1
}
