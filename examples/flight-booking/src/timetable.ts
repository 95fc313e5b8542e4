import { createRng, seedFor } from '@episodic/protocol'
import { kilometres } from './airports.ts'

export const CABINS = ['economy', 'business'] as const
export type Cabin = (typeof CABINS)[number]

export const PARTS_OF_DAY = ['morning', 'afternoon', 'evening'] as const
export type PartOfDay = (typeof PARTS_OF_DAY)[number]

/** One flight on one day. */
export interface Flight {
  /** For example `EP 214`; unique for a route and a day. */
  readonly number: string
  /** Departure, local time as `09:40`. */
  readonly departs: string
  /** Time in the air, in minutes. */
  readonly minutes: number
  /** Price of one seat in economy, in whole dollars. Business costs {@link BUSINESS} times as much. */
  readonly price: number
  /** Free seats. */
  readonly seats: number
}

/** The factor from the price of economy to that of business. */
export const BUSINESS = 3

/** The share of routes and days without a flight. */
const WITHOUT = 0.1
const MAX_FLIGHTS = 4

/**
 * Returns the flights of a route on a day, the earliest first. The seed is the route and the day, so the timetable is
 * the same in every session.
 */
function flightsOn(from: string, to: string, date: string): readonly Flight[] {
  const rng = createRng(seedFor('timetable', from, to, date))
  if (rng.chance(WITHOUT)) return []
  const distance = kilometres(from, to)
  const minutes = 35 + Math.round(distance / 14)
  const numbers = rng.shuffle(Array.from({ length: 9 }, (_, i) => 100 * (i + 1)))
  return Array.from({ length: rng.int(1, MAX_FLIGHTS) }, (_, i) => ({
    number: `EP ${(numbers[i] as number) + rng.int(1, 99)}`,
    departs: timeOf(rng.int(6 * 12, 22 * 12 - 1) * 5),
    minutes,
    price: 30 + Math.round((distance * rng.int(6, 12)) / 100),
    seats: rng.int(2, 12),
  })).toSorted((a, b) => (a.departs < b.departs ? -1 : 1))
}

function partOf({ departs }: Pick<Flight, 'departs'>): PartOfDay {
  if (departs < '12:00') return 'morning'
  return departs < '17:00' ? 'afternoon' : 'evening'
}

/** The requirements for a flight. */
export interface Wish {
  readonly from: string
  readonly to: string
  readonly date: string
  readonly passengers: number
  /** `null` for any time. */
  readonly part: PartOfDay | null
}

/** Returns the flights that fit, the cheapest first. */
export function fittingFlights(wish: Wish): readonly Flight[] {
  return flightsOn(wish.from, wish.to, wish.date)
    .filter((flight) => flight.seats >= wish.passengers && (wish.part === null || partOf(flight) === wish.part))
    .toSorted((a, b) => a.price - b.price)
}

function timeOf(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}
