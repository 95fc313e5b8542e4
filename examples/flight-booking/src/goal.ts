import type { ConversationRecord } from '@episodic/contexts'
import type { Rng } from '@episodic/protocol'
import { z } from 'zod'
import { AIRPORTS, cityOf } from './airports.ts'
import { priceOf, type Trip } from './booking.ts'
import { smallTalk } from './small-talk.ts'
import { support } from './support.ts'
import { CABINS, fittingFlights, PARTS_OF_DAY } from './timetable.ts'
import { Code, Day, dayOf, daysAfter, MAX_PASSENGERS, readDay } from './trip.ts'
import { weather } from './weather.ts'

/** The start of every episode: Monday, 5 January 2026, at nine in the morning. */
export const TODAY = Date.UTC(2026, 0, 5, 9)

/** The questions that a traveller may have. */
export const DIGRESSIONS = ['weather', 'baggage', 'refund', 'joke'] as const
export type Digression = (typeof DIGRESSIONS)[number]

/** A traveller's goal: a flight, and answers to questions. */
export const Goal = z.object({
  from: Code,
  to: Code,
  date: Day,
  passengers: z.int().min(1).max(MAX_PASSENGERS),
  cabin: z.enum(CABINS),
  /** When it may leave; `null` for any time. */
  part: z.enum(PARTS_OF_DAY).nullable(),
  /** The highest price for all passengers, in whole dollars; `null` for any price. */
  budget: z.int().min(1).nullable(),
  /** What to ask about while the booking is open, each once. */
  digressions: z.array(z.enum(DIGRESSIONS)).max(DIGRESSIONS.length),
})
export type Goal = z.infer<typeof Goal>

const CONSTRAINTS = ['cabin', 'part', 'budget'] as const
export const MAX_CONSTRAINTS = CONSTRAINTS.length

/** The range of days from today to the trip. */
const DAYS_AHEAD = { least: 1, most: 60 }
/** The most that a budget exceeds the price of the second cheapest flight, in dollars. */
const SLACK = 40

/** The numbers of questions and constraints in a goal. */
export interface Demands {
  readonly digressions: number
  readonly constraints: number
}

/** Draws a goal that can be reached under any trouble: two flights fit it. */
export function drawGoal(rng: Rng, demands: Demands): Goal {
  const digressions = rng.shuffle(DIGRESSIONS).slice(0, demands.digressions)
  const constraints = rng.shuffle(CONSTRAINTS).slice(0, demands.constraints)
  for (;;) {
    const [from, to] = [rng.pick(AIRPORTS).code, rng.pick(AIRPORTS).code]
    const date = daysAfter(dayOf(TODAY), rng.int(DAYS_AHEAD.least, DAYS_AHEAD.most))
    const part = constraints.includes('part') ? rng.pick(PARTS_OF_DAY) : null
    const wish = { from, to, date, passengers: rng.int(1, 4), part }
    // The second one is needed if the first is sold out.
    const [, second] = from === to ? [] : fittingFlights(wish)
    if (!second) continue
    const cabin = constraints.includes('cabin') ? 'business' : 'economy'
    const price = priceOf(second.price, { ...wish, cabin })
    return { ...wish, cabin, budget: constraints.includes('budget') ? price + rng.int(0, SLACK) : null, digressions }
  }
}

/** The slots that are compared with the goal. */
const SLOTS = ['from', 'to', 'date', 'passengers', 'cabin', 'part'] as const

/** Returns the share of a goal's slots that are right in a booking, from 0 to 1. */
export function accuracyOf(goal: Goal, booked: { readonly [Slot in (typeof SLOTS)[number]]?: unknown }): number {
  // Cabin and time count only if the goal has them, so that an empty booking has no right slot.
  const asked = SLOTS.filter((slot) => (slot !== 'cabin' || goal.cabin !== 'economy') && goal[slot] !== null)
  return asked.filter((slot) => booked[slot] === goal[slot]).length / asked.length
}

/** Whether the booked flight fits the goal. */
export function isWanted(goal: Goal, booked: Trip): boolean {
  const isRight = SLOTS.every((slot) => booked[slot] === goal[slot] || (slot === 'part' && goal.part === null))
  return isRight && (goal.budget === null || booked.price <= goal.budget)
}

/** Returns the questions of a goal that were answered so far. */
export function answered(goal: Goal, record: ConversationRecord): readonly Digression[] {
  const talks = smallTalk.closed(record).map(({ result }) => result?.about)
  const topics = support.closed(record).map(({ result }) => result?.topic)
  const cities = weather.closed(record).map(({ result }) => result?.city)
  const isAnswered: Readonly<Record<Digression, boolean>> = {
    weather: cities.includes(goal.to),
    baggage: topics.includes('baggage'),
    refund: topics.includes('refund'),
    joke: talks.includes('joke'),
  }
  return goal.digressions.filter((digression) => isAnswered[digression])
}

/** Returns the number of a goal's constraints: cabin, part of the day, budget. */
export function countConstraints({ cabin, part, budget }: Goal): number {
  return [cabin !== 'economy', part !== null, budget !== null].filter(Boolean).length
}

const QUESTIONS: Readonly<Record<Digression, (goal: Goal) => string>> = {
  weather: ({ to }) => `ask for the weather in ${cityOf(to)}`,
  baggage: () => 'ask how much baggage is allowed',
  refund: () => 'ask about refunds',
  joke: () => 'ask for a joke',
}

/** Returns the goal in words, as a task's prompt states it. */
export function formatGoal(goal: Goal): string {
  const { from, to, date, passengers, cabin, part, budget, digressions } = goal
  const people = passengers === 1 ? '1 passenger' : `${passengers} passengers`
  const requests = [
    `on ${readDay(date)} (${date}) for ${people} in ${cabin}`,
    part && `leaving in the ${part}`,
    budget !== null && `for at most $${budget} in all`,
  ]
  const questions = digressions.map((digression) => QUESTIONS[digression](goal))
  return [
    `Book a flight from ${cityOf(from)} to ${cityOf(to)} ${requests.filter(Boolean).join(', ')}.`,
    ...(questions.length > 0 ? [`While you are booking, ${questions.join(', ')}.`] : []),
  ].join(' ')
}
