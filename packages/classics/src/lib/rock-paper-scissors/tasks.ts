import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** Matches of one to a hundred rounds. */
export const tasks = defineTasks({
  name: 'rock-paper-scissors',
  environment,
  generate({ difficulty }) {
    const rounds = Math.round(100 ** difficulty)
    return {
      prompt: `Win more rounds than you lose, of ${rounds}.`,
      hints: ['A player that throws all three hands equally often, at random, cannot be beaten.'],
      params: { rounds },
      difficulty,
      tags: [],
    }
  },
})
