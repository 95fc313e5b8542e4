import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Action, JsonObject, Rng } from '@episodic/protocol'

/** Draws the calls of an episode, one by one: most are accepted, so that they build on one another. */
export type DrawCalls = (rng: Rng) => () => Action

interface RetailDb {
  readonly products: Readonly<
    Record<string, { readonly name: string; readonly variants: Readonly<Record<string, object>> }>
  >
  readonly users: Readonly<Record<string, RetailUser>>
  readonly orders: Readonly<Record<string, RetailOrder>>
}

interface RetailUser {
  readonly user_id: string
  readonly name: { readonly first_name: string; readonly last_name: string }
  readonly address: { readonly zip: string }
  readonly email: string
  readonly payment_methods: Readonly<Record<string, object>>
  readonly orders: readonly string[]
}

interface RetailOrder {
  readonly order_id: string
  readonly status: string
  readonly items: readonly { readonly item_id: string; readonly product_id: string }[]
}

const PLACE = { address1: '2 Oak Street', address2: '', city: 'Reno', state: 'NV', country: 'USA', zip: '89502' }
const EXPRESSIONS = [
  '12.5 * 3 - 1',
  '(1 + 2',
  '2 ** 70 / 3',
  '7 // 2',
  '1/8',
  '100 / 0',
  '1.005 + 0',
  '2 (3)',
  '(4 5)',
  '$5',
]

/** Draws calls over the database of the shop in a folder of the suite. */
export function retailCalls(folder: string): DrawCalls {
  const db = readDb<RetailDb>(folder, 'retail')
  const users = Object.values(db.users).filter(({ orders }) => orders.length > 0)
  return (rng) => {
    const people = [1, 2, 3].map(() => rng.pick(users))
    return () => {
      const user = rng.pick(people)
      const orders = user.orders.map((id) => db.orders[id] as RetailOrder)
      /** An order of a status, if the user has one. */
      const orderOf = (status: string) => {
        const fitting = orders.filter((order) => order.status === status && rng.chance(0.95))
        return rng.pick(fitting.length > 0 ? fitting : orders)
      }
      const [pending, delivered] = [orderOf('pending'), orderOf('delivered')]
      const payment_method_id = rng.chance(0.95) ? rng.pick(Object.keys(user.payment_methods)) : 'gift_card_0'
      const swap = ({ order_id, items }: RetailOrder) => {
        const chosen = rng.shuffle(items).slice(0, rng.chance(0.05) ? 0 : rng.int(1, 3))
        const fresh = chosen.map(({ product_id }) => rng.pick(Object.keys(db.products[product_id]?.variants ?? {})))
        const item_ids = chosen.map(({ item_id }) => item_id)
        if (rng.chance(0.03)) item_ids.push(item_ids[0] ?? '1')
        return { order_id, item_ids, new_item_ids: fresh, payment_method_id }
      }
      const { first_name, last_name } = user.name
      const { order_id, item_ids } = swap(delivered)
      const product_id = rng.pick(Object.keys(db.products))
      return drawOne(rng, {
        calculate: { expression: rng.pick(EXPRESSIONS) },
        cancel_pending_order: {
          order_id: pending.order_id,
          reason: rng.pick(['no longer needed', 'ordered by mistake']),
        },
        exchange_delivered_order_items: swap(delivered),
        find_user_id_by_name_zip: { first_name: first_name.toUpperCase(), last_name, zip: user.address.zip },
        find_user_id_by_email: { email: rng.chance() ? user.email : user.email.toUpperCase() },
        get_order_details: { order_id: rng.pick([pending, delivered]).order_id },
        get_product_details: { product_id },
        get_item_details: { item_id: rng.pick(Object.keys(db.products[product_id]?.variants ?? {})) },
        get_user_details: { user_id: user.user_id },
        list_all_product_types: {},
        modify_pending_order_address: { order_id: pending.order_id, ...PLACE },
        modify_pending_order_items: swap(pending),
        modify_pending_order_payment: { order_id: pending.order_id, payment_method_id },
        modify_user_address: { user_id: rng.chance(0.95) ? user.user_id : 'nobody', ...PLACE },
        return_delivered_order_items: { order_id, item_ids, payment_method_id },
        transfer_to_human_agents: { summary: 'It is hard.' },
      })
    }
  }
}

interface AirlineDb {
  readonly flights: Readonly<Record<string, Flight>>
  readonly users: Readonly<Record<string, AirlineUser>>
  readonly reservations: Readonly<Record<string, AirlineReservation>>
}

interface Flight {
  readonly origin: string
  readonly destination: string
  readonly dates: Readonly<Record<string, { readonly prices?: Readonly<Record<string, number>> }>>
}

interface AirlineUser {
  readonly user_id: string
  readonly payment_methods: Readonly<Record<string, object>>
  readonly reservations: readonly string[]
}

interface AirlineReservation {
  readonly reservation_id: string
  readonly flights: readonly { readonly flight_number: string; readonly date: string }[]
  readonly passengers: readonly JsonObject[]
}

/** Draws calls over the database of the airline in a folder of the suite. */
export function airlineCalls(folder: string): DrawCalls {
  const db = readDb<AirlineDb>(folder, 'airline')
  const users = Object.values(db.users).filter(({ reservations }) => reservations.length > 0)
  const numbers = Object.keys(db.flights)
  return (rng) => {
    const people = [1, 2].map(() => rng.pick(users))
    return () => {
      const { user_id, payment_methods, reservations } = rng.pick(people)
      const reservation = db.reservations[rng.pick(reservations)] as AirlineReservation
      const reservation_id = rng.chance(0.9) ? reservation.reservation_id : rng.pick(['HATHAT', 'HATHAU', 'XXXXXX'])
      const payment_id = rng.chance(0.95) ? rng.pick(Object.keys(payment_methods)) : 'gift_card_0'
      const date = `2024-05-${String(rng.chance(0.9) ? rng.int(16, 29) : rng.int(1, 15)).padStart(2, '0')}`
      const flight_number = rng.pick(numbers)
      const { origin, destination } = db.flights[flight_number] as Flight
      const cabin = rng.pick(['business', 'economy', 'basic_economy'])
      const legs = [{ flight_number, date }]
      const passengers = Array.from({ length: rng.int(1, 3) }, (_, i) => ({
        first_name: 'Zoë',
        last_name: `N${i}`,
        dob: '1990-01-01',
      }))
      const [nonfree, insurance] = [rng.int(0, 2), rng.pick(['yes', 'no'])]
      const fare = (db.flights[flight_number]?.dates[date]?.prices?.[cabin] ?? 100) * passengers.length
      const total = fare + 50 * nonfree + (insurance === 'yes' ? 30 * passengers.length : 0)
      const part = rng.chance(0.3) ? rng.int(0, 50) : 0
      const payments = [
        { payment_id, amount: total - part },
        ...(part > 0
          ? [{ payment_id: rng.pick(Object.keys(payment_methods)), amount: rng.chance(0.9) ? part : 1 }]
          : []),
      ]
      const others = { total_baggages: rng.int(0, 4), nonfree_baggages: nonfree }
      return drawOne(rng, {
        book_reservation: {
          user_id,
          origin,
          destination,
          flight_type: 'one_way',
          cabin,
          flights: legs,
          passengers,
          payment_methods: payments,
          insurance,
          ...others,
        },
        calculate: { expression: rng.pick(EXPRESSIONS) },
        cancel_reservation: { reservation_id },
        get_reservation_details: { reservation_id },
        get_user_details: { user_id },
        list_all_airports: {},
        search_direct_flight: { origin, destination, date },
        search_onestop_flight: { origin, destination: rng.pick(Object.values(db.flights)).destination, date },
        send_certificate: { user_id, amount: rng.int(1, 300) },
        transfer_to_human_agents: { summary: 'It is hard.' },
        update_reservation_baggages: { reservation_id, payment_id, ...others },
        update_reservation_flights: {
          reservation_id,
          cabin,
          flights: rng.chance() ? reservation.flights.map((leg) => ({ ...leg })) : legs,
          payment_id,
        },
        update_reservation_passengers: {
          reservation_id,
          passengers: rng.chance(0.9) ? reservation.passengers.map((one) => ({ ...one, last_name: 'Né' })) : [],
        },
        get_flight_status: { flight_number, date },
      })
    }
  }
}

function drawOne(rng: Rng, calls: { readonly [tool: string]: JsonObject }): Action {
  const tool = rng.pick(Object.keys(calls))
  return { tool, arguments: calls[tool] as JsonObject }
}

function readDb<Db>(folder: string, domain: string): Db {
  const file = join(folder, 'data', 'tau2', 'domains', domain, 'db.json.gz')
  return JSON.parse(gunzipSync(readFileSync(file)).toString()) as Db
}
