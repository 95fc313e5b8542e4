import type { Rng } from '@episodic/protocol'
import { cityOf } from './airports.ts'
import type { Digression, Goal } from './goal.ts'

/** The slots that a traveller says. */
export type Spoken = 'from' | 'to' | 'date' | 'passengers' | 'cabin' | 'part'

const MONTHS = 'January February March April May June July August September October November December'.split(' ')

/** Phrases for each slot; `{}` is its value. */
const SLOTS: Readonly<Record<Spoken, readonly string[]>> = {
  from: ['from {}', 'leaving from {}', 'departing from {}'],
  to: ['to {}', 'flying to {}'],
  date: ['on {}', 'leaving on {}'],
  passengers: ['for {} passengers', 'we are {} people', 'for {} people'],
  cabin: ['in {} class', '{} class please'],
  part: ['in the {}', 'leaving in the {}'],
}

const BOOK = [
  'I want to book a flight',
  'Hi, I need a flight',
  'Hello, I would like to fly',
  'Can you book me a ticket',
]
const CONFIRM = ['Yes, book it', 'Yes please', 'Sounds good, go ahead', 'Perfect, book it']
const DECLINE = ['No, that is too expensive', 'No, another flight please', 'Not that one']
const CORRECT = ['No, {}', 'Sorry, I meant {}', 'Actually, {}', 'Wait, {}']

const ASK: Readonly<Record<Digression, readonly string[]>> = {
  weather: ["What's the weather in {}?", 'How is the weather in {}?', 'Will it rain in {}?'],
  baggage: ['How much luggage can I take?', 'How much baggage is allowed?', 'What is the baggage allowance?'],
  refund: ['Can I get a refund?', 'How do I get my money back?', 'What is the refund policy?'],
  joke: ['Tell me a joke', 'Do you know a joke?'],
}

const CAUSES = ['The airline', 'If the airline cancels', 'I cancel myself']

/** Says one or several slots of a goal. */
export function sayDetails(slots: readonly Spoken[], goal: Pick<Goal, Spoken>, rng: Rng): string {
  const said = slots.map((slot) => fill(rng.pick(SLOTS[slot]), readValue(slot, goal, rng)))
  return sentence(said.join(' ').replace('for 1 passengers', 'for one passenger').replace('1 people', 'one person'))
}

export function sayBooking(rng: Rng): string {
  return rng.pick(BOOK)
}

export function correctDetails(slot: Spoken, goal: Pick<Goal, Spoken>, rng: Rng): string {
  const details = sayDetails([slot], goal, rng)
  return fill(rng.pick(CORRECT), details[0]?.toLowerCase() + details.slice(1))
}

export function ask(digression: Digression, { to }: Pick<Goal, 'to'>, rng: Rng): string {
  return fill(rng.pick(ASK[digression]), cityOf(to))
}

export function sayCause(rng: Rng): string {
  return rng.pick(CAUSES)
}

export function agree(rng: Rng): string {
  return rng.pick(CONFIRM)
}

export function disagree(rng: Rng): string {
  return rng.pick(DECLINE)
}

function readValue(slot: Spoken, goal: Pick<Goal, Spoken>, rng: Rng): string {
  const value = goal[slot]
  if (slot === 'from' || slot === 'to') return cityOf(goal[slot])
  if (slot === 'date') {
    const [year, month, day] = goal.date.split('-').map(Number) as [number, number, number]
    const name = MONTHS[month - 1]
    return rng.pick([goal.date, `${day} ${name}`, `${name} ${day}, ${year}`])
  }
  return String(value)
}

function fill(phrase: string, value: string): string {
  return phrase.replace('{}', value)
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
