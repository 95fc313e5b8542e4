import {
  type Address,
  createShop,
  type Order,
  type PaymentMethod,
  type Product,
  REASONS,
  roundToCents,
  type Shop,
  type User,
} from '@episodic/benchmarks/tau2/shop'
import { createRng, type Rng, seedFor } from '@episodic/protocol'
import { CATALOGUE, CITIES, FIRST_NAMES, LAST_NAMES, STREETS } from './catalogue.ts'

const USERS = 720
const ORDERS = 2_200

/** A shop as it is drawn: always the same one, which all sessions share. */
export const SHOP: Shop = drawShop(createRng(seedFor('support-desk', 'shop')))

/** Draws an address. */
export function drawAddress(rng: Rng): Address {
  const [city, state, zip] = rng.pick(CITIES)
  return {
    address1: `${rng.int(1, 990)} ${rng.pick(STREETS)} ${rng.pick(['Street', 'Road', 'Lane', 'Way'])}`,
    address2: rng.chance(0.6) ? `Apartment ${rng.int(1, 99)}` : '',
    city,
    country: 'USA',
    state,
    zip: `${String(zip).padStart(3, '0')}${digits(rng, 2)}`,
  }
}

function drawShop(rng: Rng): Shop {
  const id = distinct(rng)
  const products = CATALOGUE.map((entry) => drawProduct(rng, id, entry))
  const users = Array.from({ length: USERS }, () => drawUser(rng, id))
  const orders = Array.from({ length: ORDERS }, (_, i) => {
    // Everyone has ordered at least once.
    const user = users[i] ?? rng.pick(users)
    const order = drawOrder(rng, id, user, products)
    user.orders.push(order.order_id)
    return order
  })
  return createShop({
    products: byId(products, ({ product_id }) => product_id),
    users: byId(users, ({ user_id }) => user_id),
    orders: byId(orders, ({ order_id }) => order_id),
  })
}

function drawProduct(rng: Rng, id: Distinct, [name, price, options]: (typeof CATALOGUE)[number]): Product {
  const choices = Object.values(options).reduce((product, { length }) => product * length, 1)
  const all = rng.shuffle(Array.from({ length: choices }, (_, i) => i)).slice(0, rng.int(8, 16))
  const variants = all.map((choice) => {
    let rest = choice
    const chosen = Object.entries(options).map(([option, values]) => {
      const value = values[rest % values.length] as string
      rest = Math.floor(rest / values.length)
      return [option, value]
    })
    return {
      item_id: id('', 10),
      options: Object.fromEntries(chosen) as Record<string, string>,
      available: rng.chance(0.7),
      price: roundToCents(price * (0.8 + 0.4 * rng.float())),
    }
  })
  return { name, product_id: id('', 10), variants: byId(variants, ({ item_id }) => item_id) }
}

function drawUser(rng: Rng, id: Distinct): User {
  const name = { first_name: rng.pick(FIRST_NAMES), last_name: rng.pick(LAST_NAMES) }
  const first = name.first_name.toLowerCase()
  const last = name.last_name.toLowerCase()
  const user_id = id(`${first}_${last}_`, 4)
  const sources = rng.shuffle(['credit_card', 'gift_card', 'paypal'] as const).slice(0, rng.int(1, 3))
  const methods = sources.map((source): PaymentMethod => {
    const method = { id: id(`${source}_`, 7) }
    if (source === 'paypal') return { source, ...method }
    if (source === 'gift_card') return { source, ...method, balance: rng.int(0, 40_000) / 100 }
    return { source, ...method, brand: rng.pick(['visa', 'mastercard', 'amex']), last_four: digits(rng, 4) }
  })
  return {
    user_id,
    name,
    address: drawAddress(rng),
    email: `${first}.${last}${user_id.slice(-4)}@example.com`,
    payment_methods: byId(methods, ({ id }) => id),
    orders: [],
  }
}

function drawOrder(rng: Rng, id: Distinct, user: User, products: readonly Product[]): Order {
  const items = rng
    .shuffle(products)
    .slice(0, rng.int(1, 5))
    .map(({ name, product_id, variants }) => {
      const { item_id, price, options } = rng.pick(Object.values(variants))
      return { name, product_id, item_id, price, options }
    })
  const status = rng.pick([...Array(4).fill('pending'), ...Array(4).fill('delivered'), 'processed', 'cancelled'])
  const amount = roundToCents(items.reduce((sum, { price }) => sum + price, 0))
  const paid = { amount, payment_method_id: rng.pick(Object.keys(user.payment_methods)) }
  const isSent = status === 'processed' || status === 'delivered'
  return {
    order_id: id('#S', 7),
    user_id: user.user_id,
    address: rng.chance(0.8) ? { ...user.address } : drawAddress(rng),
    items,
    status,
    fulfillments: isSent ? [{ tracking_id: [id('', 12)], item_ids: items.map(({ item_id }) => item_id) }] : [],
    payment_history: [
      { transaction_type: 'payment', ...paid },
      ...(status === 'cancelled' ? [{ transaction_type: 'refund' as const, ...paid }] : []),
    ],
    cancel_reason: status === 'cancelled' ? rng.pick(REASONS) : null,
    exchange_items: null,
    exchange_new_items: null,
    exchange_payment_method_id: null,
    exchange_price_difference: null,
    return_items: null,
    return_payment_method_id: null,
  }
}

/** Returns an id that was not drawn before: a beginning, and so many digits. */
type Distinct = (beginning: string, length: number) => string

function distinct(rng: Rng): Distinct {
  const drawn = new Set<string>()
  return (beginning, length) => {
    for (;;) {
      const id = `${beginning}${rng.int(1, 9)}${digits(rng, length - 1)}`
      if (!drawn.has(id)) {
        drawn.add(id)
        return id
      }
    }
  }
}

function digits(rng: Rng, length: number): string {
  return String(rng.int(0, 10 ** length - 1)).padStart(length, '0')
}

function byId<Row>(rows: readonly Row[], idOf: (row: Row) => string): Record<string, Row> {
  return Object.fromEntries(rows.map((row) => [idOf(row), row]))
}
