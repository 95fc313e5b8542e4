import type { Task } from '@episodic/protocol'
import { z } from 'zod'
import { defineTasks } from './define-tasks.ts'
import { generateTasks } from './generate-tasks.ts'

/** An environment as its author defines it: tools as a record, parameters as a schema with defaults. */
export const guessingEnvironment = {
  name: 'number-guessing',
  version: '1.0.0',
  description: 'Find the hidden number.',
  tools: { guess: { description: 'Guess the number.' } },
  params: z.object({ low: z.int().default(1), high: z.int().default(100), maxGuesses: z.int().min(1).default(8) }),
}

/** Ranges grow with difficulty. */
export const guessing = defineTasks({
  name: 'guessing',
  environment: guessingEnvironment,
  generate({ rng, difficulty }) {
    const high = 10 + Math.floor(difficulty * 990)
    return {
      prompt: `Find the number from 1 to ${high}.`,
      params: { high, maxGuesses: rng.int(8, 12) },
      difficulty,
      tags: [difficulty < 0.5 ? 'short' : 'long'],
      limits: { steps: 20 },
    }
  },
})

export function guessingTasks(count: number, seed = 'tests'): Task[] {
  return [...generateTasks(guessing, { seed, count })]
}
