import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** One hidden word for each seed. */
export const tasks = defineTasks({
  name: 'five-letters',
  environment,
  generate: () => ({
    prompt: 'Find the hidden word in as few guesses as you can. You have six.',
    hints: ['A guess that splits the words that fit into many groups shows the most, even if it cannot be the word.'],
    params: {},
    difficulty: 0.5,
    tags: [],
  }),
})
