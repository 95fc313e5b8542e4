import { z } from 'zod'
import { calculate } from '../calculate.ts'
import { ToolError } from '../domain.ts'
import { rowOf } from '../rows.ts'
import { rulesOver } from '../rule.ts'
import {
  type Airline,
  CABINS,
  type Day,
  dayId,
  FLIGHT_TYPES,
  type Flight,
  passenger,
  payment,
  type Reservation,
  type User,
  YES_NO,
} from './flight-db.ts'

const text = z.string()
const flightsOf = z.array(z.object({ flight_number: text, date: text }))
const trip = { origin: text, destination: text, date: text }

/** The ids of reservations and certificates that are made, in this order. */
const NEW_RESERVATIONS = ['HATHAT', 'HATHAU', 'HATHAV']
const NEW_CERTIFICATES = ['certificate_3221322', 'certificate_3221323', 'certificate_3221324']

const NOW = '2024-05-15T15:00:00'

const AIRPORTS = `
SFO San Francisco, JFK New York, LAX Los Angeles, ORD Chicago, DFW Dallas, DEN Denver, SEA Seattle,
ATL Atlanta, MIA Miami, BOS Boston, PHX Phoenix, IAH Houston, LAS Las Vegas, MCO Orlando, EWR Newark,
CLT Charlotte, MSP Minneapolis, DTW Detroit, PHL Philadelphia, LGA LaGuardia`
  .trim()
  .split(/,\s/)
  .map((one) => ({ iata: one.slice(0, 3), city: one.slice(4) }))

const rule = rulesOver<Airline>()

/** The tools of the airline, oddities of the original included. */
export const AIRLINE_RULES = {
  book_reservation: rule(
    'changes',
    {
      user_id: text,
      origin: text,
      destination: text,
      flight_type: z.enum(FLIGHT_TYPES),
      cabin: z.enum(CABINS),
      flights: flightsOf,
      passengers: z.array(passenger),
      payment_methods: z.array(payment),
      total_baggages: z.int(),
      nonfree_baggages: z.int(),
      insurance: z.enum(YES_NO),
    },
    (airline, { flights, payment_methods: payments, ...rest }) => {
      const { user_id, cabin, passengers, nonfree_baggages, insurance } = rest
      const seats = passengers.length
      const { payment_methods: methods } = findUser(airline, user_id)
      const id = NEW_RESERVATIONS.find((one) => !airline.read('reservations', one))
      if (!id) throw new ToolError('Too many reservations')
      const booked = flights.map(({ flight_number, date }) => bookable(airline, flight_number, date, cabin, seats))
      const price = totalOf(booked, seats) + (insurance === 'yes' ? 30 * seats : 0) + 50 * nonfree_baggages
      for (const { payment_id, amount } of payments) {
        const method = rowOf(methods, payment_id)
        if (!method) throw new ToolError(`Payment method ${payment_id} not found`)
        if (method.source !== 'credit_card' && method.amount < amount)
          throw new ToolError(`Not enough balance in payment method ${payment_id}`)
      }
      const paid = payments.reduce((sum, { amount }) => sum + amount, 0)
      if (paid !== price)
        throw new ToolError(`Payment amount does not add up, total price is ${price}, but paid ${paid}`)

      const user = airline.edit('users', user_id)
      for (const { payment_id, amount } of payments) {
        const method = rowOf(user.payment_methods, payment_id)
        // A certificate that is to pay twice is used up, and nothing is booked.
        if (!method) throw new ToolError(`'${payment_id}'`)
        if (method.source === 'gift_card') method.amount -= amount
        else if (method.source === 'certificate') delete user.payment_methods[payment_id]
      }
      for (const { flight_number, date } of booked) {
        const { available_seats: free } = airline.edit('days', dayId(flight_number, date)) as Available
        free[cabin] = (free[cabin] as number) - seats
      }
      const { origin, destination, flight_type, total_baggages } = rest
      const reservation: Reservation = {
        reservation_id: id,
        user_id,
        origin,
        destination,
        flight_type,
        cabin,
        flights: booked,
        passengers,
        payment_history: payments,
        created_at: NOW,
        total_baggages,
        nonfree_baggages,
        insurance,
        status: null,
      }
      airline.add(reservation)
      user.reservations.push(id)
      return reservation
    },
  ),
  calculate: rule('reads', { expression: text }, (_, { expression }) => calculate(expression)),
  cancel_reservation: rule('changes', { reservation_id: text }, (airline, { reservation_id }) => {
    findReservation(airline, reservation_id)
    const reservation = airline.edit('reservations', reservation_id)
    const { payment_history: history } = reservation
    // Each entry is reversed, also one that reverses another; seats are not given back.
    history.push(...history.map(({ payment_id, amount }) => ({ payment_id, amount: 0 - amount })))
    reservation.status = 'cancelled'
    return reservation
  }),
  get_reservation_details: rule('reads', { reservation_id: text }, (airline, { reservation_id }) =>
    findReservation(airline, reservation_id),
  ),
  get_user_details: rule('reads', { user_id: text }, (airline, { user_id }) => findUser(airline, user_id)),
  list_all_airports: rule('reads', {}, () => AIRPORTS),
  search_direct_flight: rule('reads', trip, (airline, { origin, destination, date }) =>
    findFlights(airline, origin, date).filter((flight) => flight.destination === destination),
  ),
  search_onestop_flight: rule('reads', trip, (airline, { origin, destination, date }) =>
    findFlights(airline, origin, date).flatMap((first) => {
      const arrival = first.scheduled_arrival_time_est
      // The original writes a day before the 10th with one digit, and so finds no flight on it.
      const next = arrival.includes('+1') ? `2024-05-${Number(date.slice(-2)) + 1}` : date
      return findFlights(airline, first.destination, next)
        .filter((second) => second.destination === destination && second.scheduled_departure_time_est >= arrival)
        .map((second) => [
          { ...first, date },
          { ...second, date: next },
        ])
    }),
  ),
  send_certificate: rule('changes', { user_id: text, amount: z.int() }, (airline, { user_id, amount }) => {
    const { payment_methods: methods } = findUser(airline, user_id)
    const id = NEW_CERTIFICATES.find((one) => !rowOf(methods, one))
    if (!id) throw new ToolError('Too many certificates')
    airline.edit('users', user_id).payment_methods[id] = { source: 'certificate', id, amount }
    return `Certificate ${id} added to user ${user_id} with amount ${amount}.`
  }),
  transfer_to_human_agents: rule('reads', { summary: text }, () => 'Transfer successful'),
  update_reservation_baggages: rule(
    'changes',
    { reservation_id: text, total_baggages: z.int(), nonfree_baggages: z.int(), payment_id: text },
    (airline, { reservation_id, total_baggages, nonfree_baggages, payment_id }) => {
      const before = findReservation(airline, reservation_id)
      pay(airline, before, payment_id, 50 * Math.max(0, nonfree_baggages - before.nonfree_baggages))
      return Object.assign(airline.edit('reservations', reservation_id), { total_baggages, nonfree_baggages })
    },
  ),
  update_reservation_flights: rule(
    'changes',
    { reservation_id: text, cabin: z.enum(CABINS), flights: flightsOf, payment_id: text },
    (airline, { reservation_id, cabin, flights, payment_id }) => {
      const before = findReservation(airline, reservation_id)
      const seats = before.passengers.length
      const after = flights.map(({ flight_number, date }) => {
        const kept = before.flights.find((one) => one.flight_number === flight_number && one.date === date)
        return kept && cabin === before.cabin ? { ...kept } : bookable(airline, flight_number, date, cabin, seats)
      })
      pay(airline, before, payment_id, totalOf(after, seats) - totalOf(before.flights, seats))
      // Seats of flights are neither taken nor given back.
      return Object.assign(airline.edit('reservations', reservation_id), { flights: after, cabin })
    },
  ),
  update_reservation_passengers: rule(
    'changes',
    { reservation_id: text, passengers: z.array(passenger) },
    (airline, { reservation_id, passengers }) => {
      if (passengers.length !== findReservation(airline, reservation_id).passengers.length)
        throw new ToolError('Number of passengers does not match')
      return Object.assign(airline.edit('reservations', reservation_id), { passengers })
    },
  ),
  get_flight_status: rule(
    'reads',
    { flight_number: text, date: text },
    (airline, { flight_number, date }) => findDay(airline, flight_number, date).status,
  ),
}

type Available = Extract<Day, { status: 'available' }>

function findUser(airline: Airline, id: string): User {
  return airline.read('users', id) ?? missing(`User ${id}`)
}

function findReservation(airline: Airline, id: string): Reservation {
  return airline.read('reservations', id) ?? missing(`Reservation ${id}`)
}

function findFlight({ flights }: Airline, number: string): Flight {
  return rowOf(flights, number) ?? missing(`Flight ${number}`)
}

function findDay(airline: Airline, flight: string, date: string): Day {
  findFlight(airline, flight)
  const day = airline.read('days', dayId(flight, date))
  if (!day) throw new ToolError(`Flight ${flight} not found on date ${date}`)
  return day
}

function missing(what: string): never {
  throw new ToolError(`${what} not found`)
}

/** Returns a flight on a date as a part of a reservation. Throws if it has fewer seats. */
function bookable(airline: Airline, number: string, date: string, cabin: string, seats: number) {
  const { flight_number, origin, destination } = findFlight(airline, number)
  const day = findDay(airline, number, date)
  if (day.status !== 'available') throw new ToolError(`Flight ${number} not available on date ${date}`)
  if ((day.available_seats[cabin] as number) < seats) throw new ToolError(`Not enough seats on flight ${number}`)
  return { flight_number, origin, destination, date, price: day.prices[cabin] as number }
}

/** Pays for a change of a reservation, or pays back. */
function pay(airline: Airline, { reservation_id, user_id }: Reservation, id: string, amount: number): void {
  const { payment_methods: methods } = findUser(airline, user_id)
  const method = rowOf(methods, id)
  if (!method) throw new ToolError('Payment method not found')
  if (method.source === 'certificate') throw new ToolError('Certificate cannot be used to update reservation')
  if (method.source === 'gift_card') {
    if (method.amount < amount) throw new ToolError('Gift card balance is not enough')
    const card = airline.edit('users', user_id).payment_methods[id] as typeof method
    card.amount -= amount
  }
  if (amount !== 0) airline.edit('reservations', reservation_id).payment_history.push({ payment_id: id, amount })
}

/** Returns the flights from an airport that can be booked on a date, as the original shows them. */
function findFlights(airline: Airline, origin: string, date: string) {
  return (rowOf(airline.departures, origin) ?? []).flatMap((flight) => {
    const day = airline.read('days', dayId(flight.flight_number, date))
    if (day?.status !== 'available') return []
    const { status, available_seats, prices } = day
    const { flight_number, destination, scheduled_departure_time_est, scheduled_arrival_time_est } = flight
    return [
      {
        flight_number,
        origin,
        destination,
        status,
        scheduled_departure_time_est,
        scheduled_arrival_time_est,
        date: null as string | null,
        available_seats,
        prices,
      },
    ]
  })
}

/** What flights cost for so many passengers. */
function totalOf(flights: readonly { readonly price: number }[], passengers: number): number {
  return flights.reduce((sum, { price }) => sum + price * passengers, 0)
}
