import { definePolicy } from '@episodic/env'
import { cityOf } from './airports.ts'
import type { Digression, Goal } from './goal.ts'

/**
 * Says all of the goal at once, asks its questions while the booking is open, and agrees to the first flight that it can
 * afford. Nothing needs fewer turns: one for the trip, one for each question and what is asked back, one to agree.
 */
export const solver = definePolicy({
  name: 'forthright',
  start({ task }) {
    const { goal } = task.params as { readonly goal: Goal }
    const questions = [...goal.digressions]
    return ({ structured }, { last }) => {
      const standing = last === null ? NOTHING_OPEN : (structured as unknown as Standing)
      return { tool: 'say', arguments: { text: chooseWords(goal, questions, standing) } }
    }
  },
})

/** What a call tells of where the conversation stands. */
interface Standing {
  readonly replies: readonly string[]
  readonly context: string | null
  readonly state: string | null
}

const NOTHING_OPEN: Standing = { replies: [], context: null, state: null }

const QUESTIONS: Readonly<Record<Digression, (goal: Goal) => string>> = {
  weather: ({ to }) => `What's the weather in ${cityOf(to)}?`,
  baggage: () => 'How much luggage can I take?',
  refund: () => 'Can I get a refund if the airline cancels?',
  joke: () => 'Tell me a joke.',
}

function chooseWords(goal: Goal, questions: Digression[], { replies, context, state }: Standing): string {
  // Whatever is asked besides is no matter of ours.
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

/** The last price that is told, in whole dollars. */
function priceIn(replies: readonly string[]): number {
  return Number(/.*\$(\d+)/s.exec(replies.join(' '))?.[1] ?? Number.POSITIVE_INFINITY)
}
