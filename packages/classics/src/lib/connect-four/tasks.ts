import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** One task: the game draws nothing. */
export const tasks = defineTasks({
  name: 'connect-four',
  environment,
  generate: () => ({
    prompt: 'Get four of your discs in line before the other player does.',
    hints: ['The centre column is in the most lines.', 'Look whether the other player could win on top of your disc.'],
    params: {},
    difficulty: 0.5,
    tags: [],
    seed: 'connect-four',
  }),
})
