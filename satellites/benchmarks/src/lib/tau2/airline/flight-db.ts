import { z } from 'zod'
import { type ChangedRows, freeze, type Rows, rowsOver, type SharedTables } from '../rows.ts'

// Fields are in the order in which the original prints them.

const text = z.string()
const byCabin = z.record(text, z.int())

export const CABINS = ['business', 'economy', 'basic_economy'] as const
export const FLIGHT_TYPES = ['round_trip', 'one_way'] as const
export const YES_NO = ['yes', 'no'] as const

export const passenger = z.object({ first_name: text, last_name: text, dob: text })
export const payment = z.object({ payment_id: text, amount: z.int() })

const paymentMethod = z.discriminatedUnion('source', [
  z.object({ source: z.literal('credit_card'), id: text, brand: text, last_four: text }),
  z.object({ source: z.literal('gift_card'), id: text, amount: z.number() }),
  z.object({ source: z.literal('certificate'), id: text, amount: z.number() }),
])

const user = z.object({
  user_id: text,
  name: z.object({ first_name: text, last_name: text }),
  address: z.object({
    address1: text,
    address2: text.nullable().default(null),
    city: text,
    country: text,
    state: text,
    zip: text,
  }),
  email: text,
  dob: text,
  payment_methods: z.record(text, paymentMethod),
  saved_passengers: z.array(passenger),
  membership: z.enum(['gold', 'silver', 'regular']),
  reservations: z.array(text),
})

const reservation = z.object({
  reservation_id: text,
  user_id: text,
  origin: text,
  destination: text,
  flight_type: z.enum(FLIGHT_TYPES),
  cabin: z.enum(CABINS),
  flights: z.array(z.object({ flight_number: text, origin: text, destination: text, date: text, price: z.int() })),
  passengers: z.array(passenger),
  payment_history: z.array(payment),
  created_at: text,
  total_baggages: z.int(),
  nonfree_baggages: z.int(),
  insurance: z.enum(YES_NO),
  status: z.literal('cancelled').nullable().default(null),
})

/** A flight on a date. One that is not available has times, which no tool shows. */
const day = z.discriminatedUnion('status', [
  z.object({ status: z.literal('available'), available_seats: byCabin, prices: byCabin }),
  z.object({ status: z.enum(['landed', 'cancelled', 'delayed', 'flying', 'on time']) }),
])

const flight = z.object({
  flight_number: text,
  origin: text,
  destination: text,
  scheduled_departure_time_est: text,
  scheduled_arrival_time_est: text,
  dates: z.record(text, day),
})

export type Reservation = z.output<typeof reservation>
export type User = z.output<typeof user>
export type Flight = Omit<z.output<typeof flight>, 'dates'>
export type Day = z.output<typeof day>

/** The tables with rows that tools change. A flight on a date is a row of its own: `HAT001 2024-05-16`. */
export type FlightTables = { readonly users: User; readonly reservations: Reservation; readonly days: Day }

/** The rows that a session has changed, as a part of its state. */
export const changedFlightRows = z.object({
  users: z.record(text, user),
  reservations: z.record(text, reservation),
  days: z.record(text, day),
})

export interface FlightDb {
  readonly shared: SharedTables<FlightTables>
  readonly flights: Readonly<Record<string, Flight>>
  /** The flights from an airport, in their order in the database. */
  readonly departures: Readonly<Record<string, readonly Flight[]>>
}

/** Reads the text of a `db.json` of the airline. Throws if it has another shape. */
export function readFlightDb(json: string): FlightDb {
  const tables = z
    .object({ flights: z.record(text, flight), users: z.record(text, user), reservations: z.record(text, reservation) })
    .parse(JSON.parse(json))
  const days: Record<string, Day> = {}
  const flights: Record<string, Flight> = {}
  const departures: Record<string, Flight[]> = {}
  for (const [number, { dates, ...rest }] of Object.entries(tables.flights)) {
    flights[number] = rest
    departures[rest.origin] = [...(departures[rest.origin] ?? []), rest]
    for (const [date, one] of Object.entries(dates)) days[dayId(number, date)] = one
  }
  const { users, reservations } = tables
  return freeze({ shared: { users, reservations, days }, flights, departures })
}

/** Returns the id of a flight on a date. */
export function dayId(flight: string, date: string): string {
  return `${flight} ${date}`
}

/** What the rules of a session see: its rows, and flights that never change. */
export interface Airline extends Rows<FlightTables>, Pick<FlightDb, 'flights' | 'departures'> {
  add(reservation: Reservation): void
}

export function airlineOver({ shared, flights, departures }: FlightDb, changed: ChangedRows<FlightTables>): Airline {
  const add = (reservation: Reservation) => {
    changed.reservations[reservation.reservation_id] = reservation
  }
  return { ...rowsOver(shared, changed), flights, departures, add }
}
