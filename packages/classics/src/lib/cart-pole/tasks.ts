import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** One pole for each seed. */
export const tasks = defineTasks({
  name: 'cart-pole',
  environment,
  generate: () => ({
    prompt: 'Keep the pole on the cart upright for 500 steps.',
    hints: ['Push to the side to which the pole leans and turns.'],
    params: {},
    difficulty: 0.5,
    tags: [],
  }),
})
