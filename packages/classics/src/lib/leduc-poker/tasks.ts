import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** One deal for each seed. */
export const tasks = defineTasks({
  name: 'leduc-poker',
  environment,
  generate: () => ({
    prompt: 'Win as many chips as you can in the long run, against a player who does the same.',
    hints: ['A pair with the public card is rare and beats everything else.'],
    params: {},
    difficulty: 0.5,
    tags: [],
  }),
})
