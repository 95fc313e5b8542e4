import { definePolicy } from '@episodic/env'
import { createRng } from '@episodic/protocol'
import type { Goal } from './goal.ts'
import { solver } from './solver.ts'

/** The probability of forgetting a question. */
const FORGETFULNESS = 0.3
/** The probability of a random utterance. */
const CARELESSNESS = 0.25

/** The random utterances. */
const WHIMS = [
  'Yes, book it.',
  'No, another flight please.',
  'Never mind.',
  'Actually, for 2 people.',
  'And the day after?',
  'Tell me a joke.',
]

/**
 * Plays like the solver, but forgets questions and sometimes says something random: between random play and the solver.
 */
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
