import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** Two stages. On firm ground nothing is drawn, so there is one task; on slippery ground there is one for each seed. */
export const tasks = defineTasks({
  name: 'cliff-walking',
  environment,
  generate({ difficulty }) {
    const slippery = difficulty >= 0.5
    return {
      prompt: `Walk to the goal (G) in as few moves as you can. A fall off the cliff (C) costs as much as 100 moves${slippery ? '. The ground is slippery' : ''}.`,
      hints: slippery
        ? ['Next to the cliff, even a move away from it may slip along it, but never down.']
        : ['The shortest way leads along the edge.'],
      params: { slippery },
      difficulty: slippery ? 0.75 : 0.25,
      tags: [slippery ? 'slippery' : 'firm'],
      ...(slippery ? {} : { seed: 'firm' }),
    }
  },
})
