import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** Matches of 20 to 200 rounds. Nothing is drawn. */
export const tasks = defineTasks({
  name: 'iterated-prisoners-dilemma',
  environment,
  generate({ rng }) {
    const rounds = 20 * rng.int(1, 10)
    return {
      prompt: `Collect as many points as you can in ${rounds} rounds. Beating the other player is worth nothing by itself.`,
      hints: ['Two players that cooperate throughout earn three times as much as two that defect.'],
      params: { rounds },
      difficulty: 0.5,
      tags: [],
      seed: 'iterated-prisoners-dilemma',
    }
  },
})
