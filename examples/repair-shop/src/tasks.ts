import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'

/** One bug that the tests show, two, or three with most of the tests missing. The seed draws program and bugs. */
export const tasks = defineTasks({
  name: 'repair-shop',
  environment,
  generate({ difficulty: share }) {
    const difficulty = Math.min(3, 1 + Math.floor(share * 3))
    return {
      prompt:
        difficulty === 1
          ? 'The program in /app has a bug. Repair it, and submit it.'
          : `The program in /app has ${difficulty} bugs, in different modules. Repair all of them, and submit it.`,
      hints: ['README.md says what the program has to do.', 'Hidden tests call src/index.js.'],
      params: { difficulty },
      difficulty: share,
      tags: [`bugs-${difficulty}`],
    }
  },
})
