import { z } from 'zod'
import { CODES, cityOf, unknownAirport } from './airports.ts'
import { CABINS, PARTS_OF_DAY } from './timetable.ts'

export const Code = z
  .enum(CODES, { error: ({ input }) => (typeof input === 'string' ? unknownAirport(input) : undefined) })
  .describe('IATA code of an airport')
export const Day = z.iso.date().describe('a day, such as 2026-03-09')
export const MAX_PASSENGERS = 9

/** The slots of a trip, each optional. */
export const Details = z
  .object({
    from: Code.describe('where the flight leaves'),
    to: Code.describe('where it goes'),
    place: Code.describe('a city, where it is not said whether from or to: what was asked for, or else where it goes'),
    date: Day.describe('the day of departure'),
    passengers: z.int().min(1).max(MAX_PASSENGERS).describe('how many seats'),
    cabin: z.enum(CABINS).describe('the class of the seats'),
    part: z.enum(PARTS_OF_DAY).describe('when it leaves: morning until 12:00, evening from 17:00'),
  })
  .partial()
export type Details = z.infer<typeof Details>

export const TROUBLES = ['none', 'price-changed', 'sold-out'] as const

/** The shared data: the trip under discussion, for example so that the weather is that of its destination. */
export const shared = {
  public: z.object({
    from: Code.nullable().default(null),
    to: Code.nullable().default(null),
    date: Day.nullable().default(null),
    cabin: z.enum(CABINS).nullable().default(null),
  }),
  private: z.object({
    /** What happens at the first payment: the price has risen, or the flight is sold out. */
    trouble: z.enum(TROUBLES).default('none'),
  }),
}

/** Returns the day of a time, in UTC. */
export function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10)
}

/** Returns a day for people, for example `Tue 6 Jan 2026`. */
export function readDay(day: string): string {
  const date = new Date(`${day}T00:00:00Z`)
  const [weekday, month] = [WEEKDAYS[date.getUTCDay()], MONTHS[date.getUTCMonth()]]
  return `${weekday} ${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`
}

/** Returns the day that is some days after another. */
export function daysAfter(day: string, count: number): string {
  const date = new Date(`${day}T00:00:00Z`)
  return new Date(date.getTime() + count * 86_400_000).toISOString().slice(0, 10)
}

export function readRoute(from: string | null, to: string | null): string {
  if (from && to) return `${cityOf(from)} to ${cityOf(to)}`
  if (from) return `from ${cityOf(from)}`
  return to ? `to ${cityOf(to)}` : 'a flight'
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
