import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** One deal for each seed. */
export const tasks = defineTasks({
  name: 'kuhn-poker',
  environment,
  generate: () => ({
    prompt: 'Win as many chips as you can in the long run, against a player who does the same.',
    hints: ['A player that bets only with the best card is never called.'],
    params: {},
    difficulty: 0.5,
    tags: [],
  }),
})
