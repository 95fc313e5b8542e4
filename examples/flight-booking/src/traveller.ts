import type { ConversationRecord, UserSimulator, UserTurn } from '@episodic/contexts'
import type { Rng } from '@episodic/protocol'
import { z } from 'zod'
import { AIRPORTS } from './airports.ts'
import { booking } from './booking.ts'
import { answered, DIGRESSIONS, Goal } from './goal.ts'
import { bookedTrip, isReached } from './judge.ts'
import { agree, ask, correctDetails, disagree, type Spoken, sayBooking, sayCause, sayDetails } from './phrase-book.ts'
import { CABINS } from './timetable.ts'
import { Code, Day, daysAfter, MAX_PASSENGERS } from './trip.ts'

/** A simulated traveller: the goal, and the behaviour. */
export const Traveller = Goal.extend({
  /** How many slots the traveller says wrong at first, and then corrects. */
  slips: z.int().min(0).max(3),
  /** Whether the traveller mistypes. */
  typos: z.boolean(),
  /** How many turns without progress the traveller accepts. */
  patience: z.int().min(1).max(10),
})
export type Traveller = z.infer<typeof Traveller>

/** The slots of a trip, in the order in which the traveller says them. */
const SLOTS = ['from', 'to', 'date', 'passengers', 'part', 'cabin'] as const satisfies readonly Spoken[]
/** The slots that a traveller may say wrong. */
const MISTAKABLE = ['from', 'to', 'date', 'passengers'] as const
/** The probability of a question while the trip is not complete. */
const CURIOSITY = 0.4
/** The probability of two slots in one utterance. */
const HASTE = 0.5
/** The probability of a typing error, if the traveller mistypes. */
const CLUMSINESS = 0.3

const Memory = z.object({
  /** How many more turns without progress the traveller accepts. */
  patience: z.int(),
  /** The visible state after the last turn, to detect progress. */
  seen: z.string().max(4_000),
  /** The slots that were said, right or wrong. */
  said: z.array(z.enum(SLOTS)).max(SLOTS.length),
  /** The slots still to be said wrong, and the wrong trip to take them from. */
  slips: z.array(z.enum(MISTAKABLE)).max(MISTAKABLE.length),
  wrong: z.object({ from: Code, to: Code, date: Day, passengers: z.int().min(1).max(MAX_PASSENGERS) }),
  /** The question that is not answered yet. */
  asked: z.enum(DIGRESSIONS).nullable(),
})
type Memory = z.infer<typeof Memory>

/**
 * A traveller who says the trip bit by bit, asks questions in between, corrects mistakes, and leaves: `satisfied` with
 * the right booking, with a `wrong-booking`, or `out-of-patience` after too many turns without progress. They see their
 * booking, but not the assistant's private state.
 */
export const traveller: UserSimulator<Traveller, typeof Memory> = {
  state: Memory,
  start({ goal, rng }) {
    const wrong = {
      from: otherThan([goal.from, goal.to], rng),
      to: otherThan([goal.from, goal.to], rng),
      date: daysAfter(goal.date, 1),
      passengers: goal.passengers + 1,
    }
    const slips = rng.shuffle(MISTAKABLE).slice(0, goal.slips)
    // The first line does not reveal the goal: the assistant has to ask.
    return { state: { patience: goal.patience, seen: '', said: [], slips, wrong, asked: null }, says: sayBooking(rng) }
  },
  answer({ state, goal, record, rng }) {
    if (bookedTrip(record) !== null)
      return isReached({ record, goal, params: {} })
        ? { kind: 'leaves', reason: 'satisfied', text: 'Thank you, goodbye.' }
        : { kind: 'leaves', reason: 'wrong-booking', text: 'That is not what I wanted.' }
    const seen = visibleState(record)
    const progress = seen !== state.seen
    state.seen = seen
    if (!progress) state.patience -= 1
    if (state.patience <= 0) return { kind: 'leaves', reason: 'out-of-patience', text: 'I give up.' }
    const text = speak({ state, goal, record, rng })
    // No typing errors after a turn without progress.
    return says(goal.typos && progress && rng.chance(CLUMSINESS) ? mistype(text, rng) : text)
  },
}

/** What the choice of the next line depends on. */
interface Situation {
  readonly state: Memory
  readonly goal: Traveller
  readonly record: ConversationRecord
  readonly rng: Rng
}

function speak({ state, goal, record, rng }: Situation): string {
  const done = answered(goal, record)
  if (state.asked !== null && done.includes(state.asked)) state.asked = null
  if (record.public.stack.at(-1)?.context === 'support' && state.asked === 'refund') return sayCause(rng)
  if (state.asked !== null) return ask(state.asked, goal, rng)

  const open = booking.find(record)
  if (!open) return state.said.length === 0 ? sayBooking(rng) : `${sayBooking(rng)} ${sayAll(goal, rng)}`
  const { data } = open
  const isRight = (slot: Spoken) => data[slot] === goal[slot] || (goal[slot] === null && data[slot] === null)
  const wrong = SLOTS.find((slot) => state.said.includes(slot) && !isRight(slot))
  if (wrong) {
    state.slips = state.slips.filter((slot) => slot !== wrong)
    return data[wrong] === null ? sayDetails([wrong], goal, rng) : correctDetails(wrong, goal, rng)
  }

  const unsaid = SLOTS.filter((slot) => !state.said.includes(slot) && !isRight(slot))
  const question = goal.digressions.find((digression) => !done.includes(digression))
  if (question && (unsaid.length === 0 || (state.said.length > 0 && rng.chance(CURIOSITY)))) {
    state.asked = question
    return ask(question, goal, rng)
  }
  if (unsaid.length > 0) {
    const slots = unsaid.slice(0, rng.chance(HASTE) ? 2 : 1)
    state.said.push(...slots)
    return sayDetails(slots, mistaken(goal, state), rng)
  }
  if (data.offer && goal.budget !== null && data.offer.price > goal.budget) return disagree(rng)
  return agree(rng)
}

/** Returns the goal with the slips in it. */
function mistaken(goal: Traveller, { slips, wrong }: Memory): Traveller {
  return { ...goal, ...Object.fromEntries(slips.map((slot) => [slot, wrong[slot]])) }
}

function sayAll(goal: Traveller, rng: Rng): string {
  return sayDetails(
    SLOTS.filter((slot) => goal[slot] !== null && (slot !== 'cabin' || goal.cabin !== CABINS[0])),
    goal,
    rng,
  )
}

/** Returns the state that the traveller sees, as text. */
function visibleState({ public: { stack, closed } }: ConversationRecord): string {
  return JSON.stringify([closed.length, stack.map(({ context, state, data }) => [context, state, data])]).slice(
    0,
    4_000,
  )
}

function otherThan(codes: readonly string[], rng: Rng): string {
  return rng.pick(AIRPORTS.filter(({ code }) => !codes.includes(code))).code
}

function says(text: string): UserTurn {
  return { kind: 'says', text }
}

/** The shortest word that is still readable with a typing error. */
const LEAST_LENGTH = 5

/** Swaps two neighbouring letters inside one of the longer words of a text. */
function mistype(text: string, rng: Rng): string {
  const words = [...text.matchAll(/\p{L}+/gu)].filter(([word]) => word.length >= LEAST_LENGTH)
  if (words.length === 0) return text
  const { 0: word, index } = rng.pick(words)
  // The first letter stays: people rarely mistype it.
  const at = index + rng.int(1, word.length - 2)
  return `${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}`
}
