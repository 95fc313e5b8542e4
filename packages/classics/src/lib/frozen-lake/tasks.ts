import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'
import { MOVES } from './maps.ts'

/** The stages, easiest first: path finding on firm ice, then on slippery ice. */
const STAGES = [
  { map: '4x4', slippery: false },
  { map: '8x8', slippery: false },
  { map: '4x4', slippery: true },
  { map: '8x8', slippery: true },
] as const

/** Four stages by map and ice. There is one task for each map of firm ice, and any number for slippery ice. */
export const tasks = defineTasks({
  name: 'frozen-lake',
  environment,
  generate({ difficulty }) {
    const stage = Math.min(STAGES.length - 1, Math.floor(difficulty * STAGES.length))
    const { map, slippery } = STAGES[stage] as (typeof STAGES)[number]
    return {
      prompt: `Cross the ${slippery ? 'slippery ' : ''}frozen lake to the goal (G) in at most ${MOVES[map]} moves. Do not fall into a hole (H).`,
      hints: slippery
        ? [
            'You slip to a side of where you want to go twice as often as you go there, and never backwards.',
            'Next to a hole, move away from it: then you cannot slip into it.',
          ]
        : ['You always go where you want to.'],
      params: { map, slippery },
      difficulty: (stage + 0.5) / STAGES.length,
      tags: [map, slippery ? 'slippery' : 'firm'],
      // Nothing is drawn on firm ice, so all rows of one map are the same task.
      ...(slippery ? {} : { seed: 'firm' }),
    }
  },
})
