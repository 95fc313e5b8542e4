import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** One task: the game draws nothing. */
export const tasks = defineTasks({
  name: 'tic-tac-toe',
  environment,
  generate: () => ({
    prompt: 'Win, or at least do not lose: perfect play of both is a draw.',
    hints: ['Two threats at once cannot both be blocked.'],
    params: {},
    difficulty: 0.5,
    tags: [],
    seed: 'tic-tac-toe',
  }),
})
