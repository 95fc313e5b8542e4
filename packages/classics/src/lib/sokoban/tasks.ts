import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'
import { LEVEL_NAMES, type LevelName } from './levels.ts'

/** One task for each level: nothing is drawn. */
export const tasks = defineTasks({
  name: 'sokoban',
  environment,
  generate({ difficulty }) {
    const at = Math.min(LEVEL_NAMES.length - 1, Math.floor(difficulty * LEVEL_NAMES.length))
    const level = LEVEL_NAMES[at] as LevelName
    return {
      prompt: 'Push every box ($) onto a goal (.) in as few moves as you can, within 120.',
      hints: ['A box in a corner that is no goal can never be moved again.'],
      params: { level },
      difficulty: (at + 0.5) / LEVEL_NAMES.length,
      tags: [level],
      seed: level,
    }
  },
})
