import { defineTasks } from '@episodic/dataset'
import { environment } from './flight-desk.ts'
import { drawDemands, stageOf, tagsOf } from './stages.ts'

/**
 * Tasks in three stages: from the second on travellers make slips; in the third they also mistype and have less
 * patience.
 */
export const tasks = defineTasks({
  name: environment.name,
  environment,
  generate({ rng, difficulty }) {
    const stage = stageOf(difficulty)
    const demands = drawDemands(rng, stage)
    const hard = stage.name === 'stage-3'
    return {
      prompt: 'A traveller wants to book a flight. Find out which, book it, and answer what they ask on the way.',
      hints: ['The traveller hears nothing but what you reply.', 'Whatever they ask in between, the booking is kept.'],
      params: {
        ...demands,
        slips: stage.name === 'stage-1' ? 0 : rng.int(1, 2),
        typos: hard,
        patience: hard ? 4 : 6,
        trouble: rng.pick(stage.troubles),
      },
      difficulty,
      tags: tagsOf(stage, demands),
    }
  },
})
