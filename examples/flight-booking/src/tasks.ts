import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'
import { drawGoal, formatGoal } from './goal.ts'
import { drawDemands, stageOf, tagsOf } from './stages.ts'

/**
 * Dialogues in three stages, by the number of digressions and constraints; in the last one flights sell out and prices
 * rise.
 */
export const tasks = defineTasks({
  name: 'flight-booking',
  environment,
  generate({ rng, difficulty }) {
    const stage = stageOf(difficulty)
    const demands = drawDemands(rng, stage)
    const goal = drawGoal(rng, demands)
    return {
      prompt: formatGoal(goal),
      hints: ['Everything about the trip can be said at once.', 'Whatever you ask in between, the booking is kept.'],
      params: { goal, trouble: rng.pick(stage.troubles) },
      difficulty,
      tags: tagsOf(stage, demands),
    }
  },
})
