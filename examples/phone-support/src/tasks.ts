import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** One to three faults. The agent and the customer have instructions of their own. */
export const tasks = defineTasks({
  name: 'phone-support',
  environment,
  generate({ difficulty }) {
    const faults = Math.min(3, 1 + Math.floor(difficulty * 3))
    return {
      params: { faults },
      difficulty,
      prompt: 'You are an agent of a service desk for phones. Solve the problem of the customer, then close the case.',
      seats: {
        user: {
          prompt:
            'You are a customer whose mobile data does not work. You know little of phones: do what the agent asks with the tools that you have, say what you see, and nothing more. Say first what your problem is.',
        },
      },
    }
  },
})
