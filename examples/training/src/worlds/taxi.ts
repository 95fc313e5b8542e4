import { environment } from '@episodic/classics/taxi'
import { oneHot, type World } from './world.ts'

const ACTIONS = ['south', 'north', 'east', 'west', 'pick-up', 'drop-off'] as const
const STOPS = ['R', 'G', 'Y', 'B', 'taxi']

/**
 * Taxi in dry weather. The input has 200 numbers for the square together with the stop to drive to next and whether the
 * passenger is in the taxi, which is all that the best action depends on; and 20 for the stop where the passenger is
 * and where they want to go, which the value depends on too.
 */
export const taxi: World = {
  environment,
  params: { rainy: false },
  // The longest way of the best policy is shorter, and a beginner who has lost the way learns nothing from 150 steps
  // more.
  steps: 50,
  // The fine for a wrong pick-up is so high that a beginner would stop trying. The best policy never pays it.
  weights: { illegal: 0.1 },
  scale: 0.1,
  inputs: 220,
  actions: ACTIONS.map((action) => ({ tool: 'act', arguments: { action } })),
  encode({ structured }) {
    const { row, column, passenger, destination } = structured ?? {}
    const [waits, goal] = [STOPS.indexOf(String(passenger)), STOPS.indexOf(String(destination))]
    const isAboard = passenger === 'taxi'
    const target = 2 * (isAboard ? goal : waits) + (isAboard ? 1 : 0)
    return oneHot(220, 25 * target + 5 * Number(row) + Number(column), 200 + 4 * waits + goal)
  },
  isSuccess: (reason) => reason === 'delivered',
}
