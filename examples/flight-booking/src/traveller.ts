import type { ConversationRecord, UserSimulator, UserTurn } from '@episodic/contexts'
import type { Rng } from '@episodic/protocol'
import { z } from 'zod'
import { AIRPORTS } from './airports.ts'
import { booking } from './booking.ts'
import { answered, DIGRESSIONS, Goal } from './goal.ts'
import { bookedTrip, isReached } from './judge.ts'
import { mistype } from './mistype.ts'
import { agree, ask, correctDetails, disagree, type Spoken, sayBooking, sayCause, sayDetails } from './phrase-book.ts'
import { CABINS } from './timetable.ts'
import { Code, Day, daysAfter, MAX_PASSENGERS } from './trip.ts'

/** What a simulated traveller wants, and how they are. */
export const Traveller = Goal.extend({
  /** How often they say something wrong at first and correct it. */
  slips: z.int().min(0).max(3),
  /** Whether they mistype. */
  typos: z.boolean(),
  /** How many turns without progress they put up with. */
  patience: z.int().min(1).max(10),
})
export type Traveller = z.infer<typeof Traveller>

/** The order in which a trip is told. */
const TOLD = ['from', 'to', 'date', 'passengers', 'part', 'cabin'] as const satisfies readonly Spoken[]
/** What can be said wrong. */
const MISTAKABLE = ['from', 'to', 'date', 'passengers'] as const
/** How often a question comes up while the trip is not told yet. */
const CURIOSITY = 0.4
/** How often two things are told at once. */
const HASTE = 0.5
/** How often a text has a typing error, for those who mistype. */
const CLUMSINESS = 0.3

const Memory = z.object({
  /** Turns without progress that are still put up with. */
  patience: z.int(),
  /** How things stood the last time, so that progress shows. */
  seen: z.string().max(4_000),
  /** What was told, rightly or not. */
  told: z.array(z.enum(TOLD)).max(TOLD.length),
  /** What is to be said wrong, with the wrong trip to read it from. */
  slips: z.array(z.enum(MISTAKABLE)).max(MISTAKABLE.length),
  wrong: z.object({ from: Code, to: Code, date: Day, passengers: z.int().min(1).max(MAX_PASSENGERS) }),
  /** The question that waits for its answer. */
  asked: z.enum(DIGRESSIONS).nullable(),
})
type Memory = z.infer<typeof Memory>

/**
 * A traveller who says the trip bit by bit, asks other things in between, corrects what they or the assistant got wrong, and
 * leaves: `satisfied` with what was wanted, with a `wrong-booking`, or `out-of-patience` after too many turns that led nowhere.
 * They see their booking, and not what the assistant thinks.
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
    // What it begins with says nothing of what is wanted: that is the assistant's to find out.
    return { state: { patience: goal.patience, seen: '', told: [], slips, wrong, asked: null }, says: sayBooking(rng) }
  },
  answer({ state, goal, record, rng }) {
    if (bookedTrip(record) !== null)
      return isReached({ record, goal, params: {} })
        ? { kind: 'leaves', reason: 'satisfied', text: 'Thank you, goodbye.' }
        : { kind: 'leaves', reason: 'wrong-booking', text: 'That is not what I wanted.' }
    const seen = standingOf(record)
    const progress = seen !== state.seen
    state.seen = seen
    if (!progress) state.patience -= 1
    if (state.patience <= 0) return { kind: 'leaves', reason: 'out-of-patience', text: 'I give up.' }
    const text = speak({ state, goal, record, rng })
    // Whoever was not understood takes care.
    return says(goal.typos && progress && rng.chance(CLUMSINESS) ? mistype(text, rng) : text)
  },
}

/** What a traveller goes by when they choose what to say. */
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
  if (!open) return state.told.length === 0 ? sayBooking(rng) : `${sayBooking(rng)} ${sayAll(goal, rng)}`
  const { data } = open
  const isRight = (slot: Spoken) => data[slot] === goal[slot] || (goal[slot] === null && data[slot] === null)
  const wrong = TOLD.find((slot) => state.told.includes(slot) && !isRight(slot))
  if (wrong) {
    state.slips = state.slips.filter((slot) => slot !== wrong)
    return data[wrong] === null ? sayDetails([wrong], goal, rng) : correctDetails(wrong, goal, rng)
  }

  const untold = TOLD.filter((slot) => !state.told.includes(slot) && !isRight(slot))
  const question = goal.digressions.find((digression) => !done.includes(digression))
  if (question && (untold.length === 0 || (state.told.length > 0 && rng.chance(CURIOSITY)))) {
    state.asked = question
    return ask(question, goal, rng)
  }
  if (untold.length > 0) {
    const slots = untold.slice(0, rng.chance(HASTE) ? 2 : 1)
    state.told.push(...slots)
    return sayDetails(slots, mistaken(goal, state), rng)
  }
  if (data.offer && goal.budget !== null && data.offer.price > goal.budget) return disagree(rng)
  return agree(rng)
}

/** The goal, as somebody says it who has parts of it wrong. */
function mistaken(goal: Traveller, { slips, wrong }: Memory): Traveller {
  return { ...goal, ...Object.fromEntries(slips.map((slot) => [slot, wrong[slot]])) }
}

function sayAll(goal: Traveller, rng: Rng): string {
  return sayDetails(
    TOLD.filter((slot) => goal[slot] !== null && (slot !== 'cabin' || goal.cabin !== CABINS[0])),
    goal,
    rng,
  )
}

/** How things stand, in as far as a traveller notices. */
function standingOf({ public: { stack, closed } }: ConversationRecord): string {
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
