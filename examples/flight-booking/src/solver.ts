import { definePolicy } from '@episodic/env'
import { cityOf } from './airports.ts'
import type { Digression, Goal } from './goal.ts'

/**
 * Says the whole goal at once, asks its questions while the booking is open, and accepts the first flight within the
 * budget. No policy needs fewer turns: one for the trip, one for each question and for each question back, one to
 * accept.
 */
export const solver = definePolicy({
  name: 'forthright',
  start({ task }) {
    const { goal } = task.params as { readonly goal: Goal }
    const questions = [...goal.digressions]
    return ({ structured }, { last }) => {
      const view = last === null ? NOTHING_OPEN : (structured as unknown as TravellerView)
      return { tool: 'say', arguments: { text: chooseWords(goal, questions, view) } }
    }
  },
})

/** The part of the observation that the solver reads. */
interface TravellerView {
  readonly replies: readonly string[]
  readonly context: string | null
  readonly state: string | null
}

const NOTHING_OPEN: TravellerView = { replies: [], context: null, state: null }

const QUESTIONS: Readonly<Record<Digression, (goal: Goal) => string>> = {
  weather: ({ to }) => `What's the weather in ${cityOf(to)}?`,
  baggage: () => 'How much luggage can I take?',
  refund: () => 'Can I get a refund if the airline cancels?',
  joke: () => 'Tell me a joke.',
}

function chooseWords(goal: Goal, questions: Digression[], { replies, context, state }: TravellerView): string {
  // The questions of other contexts are not part of the goal.
  if (context !== null && context !== 'booking') return 'Never mind.'
  if (state !== 'confirm') return `Book a flight ${sayGoal(goal)}.`
  const question = questions.shift()
  if (question) return QUESTIONS[question](goal)
  return goal.budget !== null && priceIn(replies) > goal.budget ? 'No, another flight please.' : 'Yes, book it.'
}

/** All of a goal's slots in words. */
function sayGoal({ from, to, date, passengers, cabin, part }: Goal): string {
  const people = passengers === 1 ? '1 passenger' : `${passengers} passengers`
  const when = part ? ` in the ${part}` : ''
  return `from ${cityOf(from)} to ${cityOf(to)} on ${date}${when} for ${people} in ${cabin}`
}

/** Returns the last price in the replies, in whole dollars. */
function priceIn(replies: readonly string[]): number {
  return Number(/.*\$(\d+)/s.exec(replies.join(' '))?.[1] ?? Number.POSITIVE_INFINITY)
}
