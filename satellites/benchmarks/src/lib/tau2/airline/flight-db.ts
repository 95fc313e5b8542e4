import { z } from 'zod'
import { each, optional, texts } from '../fields.ts'
import { freeze, type Rows, type Tables } from '../rows.ts'

// Fields are in the order in which the original prints them.

const text = z.string()
const byCabin = z.record(text, z.int())
const byId = <Schema extends z.ZodType>(row: Schema) => z.record(text, row)

export const CABINS = ['business', 'economy', 'basic_economy'] as const
export const FLIGHT_TYPES = ['round_trip', 'one_way'] as const
export const YES_NO = ['yes', 'no'] as const

export const passenger = z.object(texts('first_name', 'last_name', 'dob'))
export const payment = z.object({ payment_id: text, amount: z.int() })

const paymentMethod = z.discriminatedUnion('source', [
  z.object({ source: z.literal('credit_card'), ...texts('id', 'brand', 'last_four') }),
  z.object({ source: z.literal('gift_card'), id: text, amount: z.number() }),
  z.object({ source: z.literal('certificate'), id: text, amount: z.number() }),
])

const user = z.object({
  user_id: text,
  name: z.object(texts('first_name', 'last_name')),
  address: z.object({ address1: text, ...optional('address2'), ...texts('city', 'country', 'state', 'zip') }),
  ...texts('email', 'dob'),
  payment_methods: byId(paymentMethod),
  saved_passengers: z.array(passenger),
  membership: z.enum(['gold', 'silver', 'regular']),
  reservations: z.array(text),
})

export const reservation = z.object({
  ...texts('reservation_id', 'user_id', 'origin', 'destination'),
  flight_type: z.enum(FLIGHT_TYPES),
  cabin: z.enum(CABINS),
  flights: z.array(z.object({ ...texts('flight_number', 'origin', 'destination', 'date'), price: z.int() })),
  passengers: z.array(passenger),
  payment_history: z.array(payment),
  created_at: text,
  ...each(z.int(), 'total_baggages', 'nonfree_baggages'),
  insurance: z.enum(YES_NO),
  status: z.literal('cancelled').nullable().default(null),
})

/** A flight on a date. One that is not available has times, which no tool shows. */
const day = z.discriminatedUnion('status', [
  z.object({ status: z.literal('available'), available_seats: byCabin, prices: byCabin }),
  z.object({ status: z.enum(['landed', 'cancelled', 'delayed', 'flying', 'on time']) }),
])

const flight = z.object({
  ...texts('flight_number', 'origin', 'destination', 'scheduled_departure_time_est', 'scheduled_arrival_time_est'),
  dates: z.record(text, day),
})

export type Reservation = z.output<typeof reservation>
export type User = z.output<typeof user>
export type Flight = Omit<z.output<typeof flight>, 'dates'>
export type Day = z.output<typeof day>

/** The tables with rows that tools change. A flight on a date is a row of its own: `HAT001 2024-05-16`. */
export const airlineRows = z.object({ users: byId(user), reservations: byId(reservation), days: byId(day) })
export type AirlineRows = { readonly users: User; readonly reservations: Reservation; readonly days: Day }

/** What the rules of a session see: its rows, and flights that never change. */
export interface Airline extends Rows<AirlineRows> {
  readonly flights: Readonly<Record<string, Flight>>
  /** The flights from an airport, in their order in the database. */
  readonly departures: Readonly<Record<string, readonly Flight[]>>
}

const file = airlineRows.omit({ days: true }).extend({ flights: byId(flight) })

/** Reads the text of a `db.json` of the airline. Throws if it has another shape. */
export function readFlightDb(json: string) {
  const { users, reservations, flights: given } = file.parse(JSON.parse(json))
  const shared: Tables<AirlineRows> = { users, reservations, days: {} }
  const flights: Record<string, Flight> = {}
  const departures: Record<string, Flight[]> = {}
  for (const [number, { dates, ...rest }] of Object.entries(given)) {
    flights[number] = rest
    departures[rest.origin] = [...(departures[rest.origin] ?? []), rest]
    for (const [date, one] of Object.entries(dates)) shared.days[dayId(number, date)] = one
  }
  return freeze({ shared, flights, departures })
}

export function dayId(flight: string, date: string): string {
  return `${flight} ${date}`
}
