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

/** When every episode begins: Monday, 5 January 2026, at nine in the morning. */
export const TODAY = Date.UTC(2026, 0, 5, 9)

/** What a traveller may want to know on the way. */
export const DIGRESSIONS = ['weather', 'baggage', 'refund', 'joke'] as const
export type Digression = (typeof DIGRESSIONS)[number]

/** What a traveller wants: a flight, and answers on the way. */
export const Goal = z.object({
  from: Code,
  to: Code,
  date: Day,
  passengers: z.int().min(1).max(MAX_PASSENGERS),
  cabin: z.enum(CABINS),
  /** When it may leave; `null` where any time will do. */
  part: z.enum(PARTS_OF_DAY).nullable(),
  /** The most that it may cost everybody together, in whole dollars; `null` where any price will do. */
  budget: z.int().min(1).nullable(),
  /** What to ask about while the booking is open, each once. */
  digressions: z.array(z.enum(DIGRESSIONS)).max(DIGRESSIONS.length),
})
export type Goal = z.infer<typeof Goal>

const CONSTRAINTS = ['cabin', 'part', 'budget'] as const
export const MAX_CONSTRAINTS = CONSTRAINTS.length

/** A trip begins so many days after today. */
const DAYS_AHEAD = { least: 1, most: 60 }
/** What a budget leaves beyond the price of the second cheapest flight, in dollars. */
const SLACK = 40

/** How much a goal asks for. */
export interface Demands {
  readonly digressions: number
  readonly constraints: number
}

/** Draws a goal that can be reached, whatever the trouble: two flights fit it. */
export function drawGoal(rng: Rng, demands: Demands): Goal {
  const digressions = rng.shuffle(DIGRESSIONS).slice(0, demands.digressions)
  const constraints = rng.shuffle(CONSTRAINTS).slice(0, demands.constraints)
  for (;;) {
    const [from, to] = [rng.pick(AIRPORTS).code, rng.pick(AIRPORTS).code]
    const date = daysAfter(dayOf(TODAY), rng.int(DAYS_AHEAD.least, DAYS_AHEAD.most))
    const part = constraints.includes('part') ? rng.pick(PARTS_OF_DAY) : null
    const wish = { from, to, date, passengers: rng.int(1, 4), part }
    // The second is for whoever finds the first sold out.
    const [, second] = from === to ? [] : fittingFlights(wish)
    if (!second) continue
    const cabin = constraints.includes('cabin') ? 'business' : 'economy'
    const price = priceOf(second.price, { ...wish, cabin })
    return { ...wish, cabin, budget: constraints.includes('budget') ? price + rng.int(0, SLACK) : null, digressions }
  }
}

/** Slots of a booking that a goal is about. */
const SLOTS = ['from', 'to', 'date', 'passengers', 'cabin', 'part'] as const

/** The share of a goal's slots that a booking has right, from 0 to 1. */
export function accuracyOf(goal: Goal, booked: { readonly [Slot in (typeof SLOTS)[number]]?: unknown }): number {
  // Cabin and time count where they are asked for: an empty booking has nothing right.
  const asked = SLOTS.filter((slot) => (slot !== 'cabin' || goal.cabin !== 'economy') && goal[slot] !== null)
  return asked.filter((slot) => booked[slot] === goal[slot]).length / asked.length
}

/** Whether a flight that was booked is the one that was wanted. */
export function isWanted(goal: Goal, booked: Trip): boolean {
  const isRight = SLOTS.every((slot) => booked[slot] === goal[slot] || (slot === 'part' && goal.part === null))
  return isRight && (goal.budget === null || booked.price <= goal.budget)
}

/** The questions of a goal that were answered so far. */
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

/** How many things a goal asks for beyond the bare trip. */
export function countConstraints({ cabin, part, budget }: Goal): number {
  return [cabin !== 'economy', part !== null, budget !== null].filter(Boolean).length
}

const QUESTIONS: Readonly<Record<Digression, (goal: Goal) => string>> = {
  weather: ({ to }) => `ask for the weather in ${cityOf(to)}`,
  baggage: () => 'ask how much baggage is allowed',
  refund: () => 'ask about refunds',
  joke: () => 'ask for a joke',
}

/** A goal as whoever plays the traveller is told it. */
export function describeGoal(goal: Goal): string {
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
