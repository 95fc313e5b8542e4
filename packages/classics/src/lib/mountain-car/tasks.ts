import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** One start for each seed. */
export const tasks = defineTasks({
  name: 'mountain-car',
  environment,
  generate: () => ({
    prompt: 'Drive the car to the goal on the right in as few steps as you can, within 200.',
    hints: ['The engine is too weak to climb at once: swing to and fro first.'],
    params: {},
    difficulty: 0.5,
    tags: [],
  }),
})
