import { environment } from '@episodic/classics/taxi'
import { oneHot, type World } from './world.ts'

const ACTIONS = ['south', 'north', 'east', 'west', 'pick-up', 'drop-off'] as const
const STOPS = ['R', 'G', 'Y', 'B', 'taxi']

/**
 * Taxi in dry weather. The input has 25 numbers for the square, and 20 for where the passenger is and wants to go.
 */
export const taxi: World = {
  environment,
  params: { rainy: false },
  // The longest way of the best policy is shorter, and a beginner who has lost the way learns nothing from 150 steps more.
  steps: 50,
  // The fine for a wrong pick-up is so high that a beginner would stop trying. The best policy never pays it.
  weights: { illegal: 0.1 },
  inputs: 45,
  actions: ACTIONS.map((action) => ({ tool: 'act', arguments: { action } })),
  encode({ structured }) {
    const { row, column, passenger, destination } = structured ?? {}
    const [waits, goal] = [STOPS.indexOf(String(passenger)), STOPS.indexOf(String(destination))]
    return oneHot(45, 5 * Number(row) + Number(column), 25 + 4 * waits + goal)
  },
  isSuccess: (reason) => reason === 'delivered',
}
