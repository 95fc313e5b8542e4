import { z } from 'zod'
import { calculate } from '../calculate.ts'
import { fail } from '../domain.ts'
import { each, texts } from '../fields.ts'
import { rowOf } from '../rows.ts'
import { rulesOver } from '../rule.ts'
import type { Airline, Day, Flight, Reservation, User } from './flight-db.ts'
import { CABINS, dayId, FLIGHT_TYPES, passenger, payment, reservation, YES_NO } from './flight-db.ts'

const cabin = z.enum(CABINS)
const flights = z.array(z.object(texts('flight_number', 'date')))
const passengers = z.array(passenger)
const trip = texts('origin', 'destination', 'date')
const ofReservation = texts('reservation_id')
const ofUser = texts('user_id')
const payer = texts('payment_id')
const baggages = each(z.int(), 'total_baggages', 'nonfree_baggages')

/** The ids of reservations and certificates that are made, in this order. */
const NEW_RESERVATIONS = ['HATHAT', 'HATHAU', 'HATHAV']
const NEW_CERTIFICATES = ['certificate_3221322', 'certificate_3221323', 'certificate_3221324']

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
      ...texts('user_id', 'origin', 'destination'),
      flight_type: z.enum(FLIGHT_TYPES),
      cabin,
      flights,
      passengers,
      payment_methods: z.array(payment),
      ...baggages,
      insurance: z.enum(YES_NO),
    },
    (airline, { payment_methods: payments, ...given }) => {
      const { user_id, passengers } = given
      const seats = passengers.length
      const { payment_methods: methods } = findUser(airline, user_id)
      const id = NEW_RESERVATIONS.find((one) => !airline.read('reservations', one)) ?? fail('Too many reservations')
      const booked = given.flights.map((one) => bookable(airline, one, given.cabin, seats))
      const price = totalOf(booked, seats) + (given.insurance === 'yes' ? 30 * seats : 0) + 50 * given.nonfree_baggages
      for (const { payment_id, amount } of payments) {
        const method = rowOf(methods, payment_id) ?? fail(`Payment method ${payment_id} not found`)
        if (method.source !== 'credit_card' && method.amount < amount)
          fail(`Not enough balance in payment method ${payment_id}`)
      }
      const paid = payments.reduce((sum, { amount }) => sum + amount, 0)
      if (paid !== price) fail(`Payment amount does not add up, total price is ${price}, but paid ${paid}`)

      const user = airline.edit('users', user_id)
      for (const { payment_id, amount } of payments) {
        // A certificate that is to pay twice is used up, and nothing is booked.
        const method = rowOf(user.payment_methods, payment_id) ?? fail(`'${payment_id}'`)
        if (method.source === 'gift_card') method.amount -= amount
        else if (method.source === 'certificate') delete user.payment_methods[payment_id]
      }
      for (const { flight_number, date } of booked) {
        const { available_seats: free } = airline.edit('days', dayId(flight_number, date)) as Available
        free[given.cabin] = (free[given.cabin] as number) - seats
      }
      user.reservations.push(id)
      const made = { reservation_id: id, flights: booked, payment_history: payments, created_at: '2024-05-15T15:00:00' }
      return airline.edit('reservations', id, reservation.parse({ ...given, ...made }))
    },
  ),
  calculate: rule('reads', texts('expression'), (_, { expression }) => calculate(expression)),
  cancel_reservation: rule('changes', ofReservation, (airline, { reservation_id }) => {
    findReservation(airline, reservation_id)
    const cancelled = airline.edit('reservations', reservation_id)
    const { payment_history: history } = cancelled
    // Each entry is reversed, also one that reverses another; seats are not given back.
    history.push(...history.map(({ payment_id, amount }) => ({ payment_id, amount: 0 - amount })))
    cancelled.status = 'cancelled'
    return cancelled
  }),
  get_reservation_details: rule('reads', ofReservation, (airline, { reservation_id }) =>
    findReservation(airline, reservation_id),
  ),
  get_user_details: rule('reads', ofUser, (airline, { user_id }) => findUser(airline, user_id)),
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
  send_certificate: rule('changes', { ...ofUser, amount: z.int() }, (airline, { user_id, amount }) => {
    const { payment_methods: methods } = findUser(airline, user_id)
    const id = NEW_CERTIFICATES.find((one) => !rowOf(methods, one)) ?? fail('Too many certificates')
    airline.edit('users', user_id).payment_methods[id] = { source: 'certificate', id, amount }
    return `Certificate ${id} added to user ${user_id} with amount ${amount}.`
  }),
  transfer_to_human_agents: rule('reads', texts('summary'), () => 'Transfer successful'),
  update_reservation_baggages: rule('changes', { ...ofReservation, ...baggages, ...payer }, (airline, given) => {
    const { reservation_id, payment_id, ...after } = given
    const before = findReservation(airline, reservation_id)
    pay(airline, before, payment_id, 50 * Math.max(0, after.nonfree_baggages - before.nonfree_baggages))
    return Object.assign(airline.edit('reservations', reservation_id), after)
  }),
  update_reservation_flights: rule('changes', { ...ofReservation, cabin, flights, ...payer }, (airline, given) => {
    const { reservation_id, cabin, payment_id } = given
    const before = findReservation(airline, reservation_id)
    const seats = before.passengers.length
    const after = given.flights.map((leg) => {
      const kept = before.flights.find((one) => one.flight_number === leg.flight_number && one.date === leg.date)
      return kept && cabin === before.cabin ? { ...kept } : bookable(airline, leg, cabin, seats)
    })
    pay(airline, before, payment_id, totalOf(after, seats) - totalOf(before.flights, seats))
    // Seats of flights are neither taken nor given back.
    return Object.assign(airline.edit('reservations', reservation_id), { flights: after, cabin })
  }),
  update_reservation_passengers: rule('changes', { ...ofReservation, passengers }, (airline, given) => {
    if (given.passengers.length !== findReservation(airline, given.reservation_id).passengers.length)
      fail('Number of passengers does not match')
    return Object.assign(airline.edit('reservations', given.reservation_id), { passengers: given.passengers })
  }),
  get_flight_status: rule('reads', texts('flight_number', 'date'), (airline, leg) => findDay(airline, leg).status),
}

type Available = Extract<Day, { status: 'available' }>
type Leg = z.output<typeof flights>[number]

function findUser(airline: Airline, id: string): User {
  return airline.read('users', id) ?? fail(`User ${id} not found`)
}

function findReservation(airline: Airline, id: string): Reservation {
  return airline.read('reservations', id) ?? fail(`Reservation ${id} not found`)
}

function findFlight({ flights }: Airline, number: string): Flight {
  return rowOf(flights, number) ?? fail(`Flight ${number} not found`)
}

function findDay(airline: Airline, { flight_number: number, date }: Leg): Day {
  findFlight(airline, number)
  return airline.read('days', dayId(number, date)) ?? fail(`Flight ${number} not found on date ${date}`)
}

/** Returns a flight on a date as a part of a reservation. Throws if it has fewer seats. */
function bookable(airline: Airline, leg: Leg, cabin: string, seats: number) {
  const { flight_number, origin, destination } = findFlight(airline, leg.flight_number)
  const day = findDay(airline, leg)
  if (day.status !== 'available') fail(`Flight ${flight_number} not available on date ${leg.date}`)
  if ((day.available_seats[cabin] as number) < seats) fail(`Not enough seats on flight ${flight_number}`)
  return { flight_number, origin, destination, date: leg.date, price: day.prices[cabin] as number }
}

function pay(airline: Airline, { reservation_id, user_id }: Reservation, id: string, amount: number): void {
  const method = rowOf(findUser(airline, user_id).payment_methods, id) ?? fail('Payment method not found')
  if (method.source === 'certificate') fail('Certificate cannot be used to update reservation')
  if (method.source === 'gift_card') {
    if (method.amount < amount) fail('Gift card balance is not enough')
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
    const { flight_number, destination, origin: _, ...times } = flight
    const { status, ...seats } = day
    return [{ flight_number, origin, destination, status, ...times, date: null as string | null, ...seats }]
  })
}

function totalOf(flights: readonly { readonly price: number }[], passengers: number): number {
  return flights.reduce((sum, { price }) => sum + price * passengers, 0)
}
