import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** One thing is wrong, or two. The seed draws what, and all names and numbers. */
export const tasks = defineTasks({
  name: 'on-call',
  environment,
  generate({ difficulty }) {
    const faults = difficulty < 0.5 ? 1 : 2
    return {
      prompt: 'The shop takes no orders. Find out why, make it take orders again, and close the incident.',
      hints: ['A service reads its configuration when it starts.', 'There may be more than one cause.'],
      params: { faults },
      difficulty,
      tags: [`faults-${faults}`],
    }
  },
})
