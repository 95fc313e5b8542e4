import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** Two stages: dry streets, where nothing is drawn but the start, then rain. */
export const tasks = defineTasks({
  name: 'taxi',
  environment,
  generate({ difficulty }) {
    const rainy = difficulty >= 0.5
    return {
      prompt: `Pick up the passenger and drop them off at their stop, in as few steps as you can${rainy ? '. It rains' : ''}.`,
      hints: ['Look at the walls first: most ways lead around them.'],
      params: { rainy },
      difficulty: rainy ? 0.75 : 0.25,
      tags: [rainy ? 'rainy' : 'dry'],
    }
  },
})
