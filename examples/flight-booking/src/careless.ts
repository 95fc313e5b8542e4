import { definePolicy } from '@episodic/env'
import { createRng } from '@episodic/protocol'
import type { Goal } from './goal.ts'
import { solver } from './solver.ts'

/** How often it forgets a question altogether. */
const FORGETFULNESS = 0.3
/** How often it says something else than it should. */
const CARELESSNESS = 0.25

/** What comes to its mind. */
const WHIMS = [
  'Yes, book it.',
  'No, another flight please.',
  'Never mind.',
  'Actually, for 2 people.',
  'And the day after?',
  'Tell me a joke.',
]

/** Does as the solver does, but forgets questions and says what comes to its mind: somewhere between random play and the solver. */
export const careless = definePolicy({
  name: 'careless',
  async start(context) {
    const rng = createRng(context.seed).stream('careless')
    const { goal, ...params } = context.task.params as { readonly goal: Goal }
    const digressions = goal.digressions.filter(() => !rng.chance(FORGETFULNESS))
    const task = { ...context.task, params: { ...params, goal: { ...goal, digressions } } }
    const player = await solver.start({ ...context, task })
    return (observation, view) =>
      rng.chance(CARELESSNESS) ? { tool: 'say', arguments: { text: rng.pick(WHIMS) } } : player(observation, view)
  },
})
