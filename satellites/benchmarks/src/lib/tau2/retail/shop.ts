import { z } from 'zod'
import { freeze, type Rows } from '../rows.ts'

// Fields are in the order in which the original prints them.

const id = z.string()
const text = z.string()
const amount = z.number()
const options = z.record(text, text)

export const address = z.object({
  address1: text,
  address2: text,
  city: text,
  country: text,
  state: text,
  zip: text,
})

const variant = z.object({ item_id: id, options, available: z.boolean(), price: amount })

const product = z.object({ name: text, product_id: id, variants: z.record(id, variant) })

const paymentMethod = z.discriminatedUnion('source', [
  z.object({ source: z.literal('credit_card'), id, brand: text, last_four: text }),
  z.object({ source: z.literal('gift_card'), id, balance: amount }),
  z.object({ source: z.literal('paypal'), id }),
])

const user = z.object({
  user_id: id,
  name: z.object({ first_name: text, last_name: text }),
  address,
  email: text,
  payment_methods: z.record(id, paymentMethod),
  orders: z.array(id),
})

/** The reasons for which an order may be cancelled. */
export const REASONS = ['no longer needed', 'ordered by mistake'] as const

const STATUSES = [
  'pending',
  'pending (item modified)',
  'processed',
  'delivered',
  'cancelled',
  'exchange requested',
  'return requested',
] as const

const order = z.object({
  order_id: id,
  user_id: id,
  address,
  items: z.array(z.object({ name: text, product_id: id, item_id: id, price: amount, options })),
  status: z.enum(STATUSES),
  fulfillments: z.array(z.object({ tracking_id: z.array(id), item_ids: z.array(id) })),
  payment_history: z.array(
    z.object({ transaction_type: z.enum(['payment', 'refund']), amount, payment_method_id: id }),
  ),
  cancel_reason: z.enum(REASONS).nullable().default(null),
  exchange_items: z.array(id).nullable().default(null),
  exchange_new_items: z.array(id).nullable().default(null),
  exchange_payment_method_id: id.nullable().default(null),
  exchange_price_difference: amount.nullable().default(null),
  return_items: z.array(id).nullable().default(null),
  return_payment_method_id: id.nullable().default(null),
})

const tables = z.object({
  products: z.record(id, product),
  users: z.record(id, user),
  orders: z.record(id, order),
})

/** The rows of tables that tools change. */
export const shopRowsSchema = tables.pick({ users: true, orders: true })

export const shopSchema = tables.extend({
  /** The users by their e-mail address, in lower case. */
  emails: z.record(text, id),
  /** The users by their first and last name, as a JSON text in lower case. */
  names: z.record(text, z.array(id)),
})

/** A shop: three tables of rows by their ids, and indexes of what is searched for. */
export type Shop = z.output<typeof shopSchema>
export type ShopRows = z.output<typeof shopRowsSchema>
export type Product = z.output<typeof product>
export type Variant = z.output<typeof variant>
export type User = z.output<typeof user>
export type Order = z.output<typeof order>
export type PaymentMethod = z.output<typeof paymentMethod>
export type Address = z.output<typeof address>

/** A shop as its rules see it. */
export interface OpenShop
  extends Rows<{ readonly users: User; readonly orders: Order }>,
    Pick<Shop, 'products' | 'emails' | 'names'> {}

/**
 * Returns a shop with these tables, frozen at every depth, so that all sessions that begin with it share it. Optional
 * fields that are missing are `null`. Throws a `ZodError` if the tables have another shape.
 */
export function createShop(given: unknown): Shop {
  const { products, users, orders } = tables.parse(given)
  const emails: Shop['emails'] = {}
  const names: Shop['names'] = {}
  for (const [id, { email, name }] of Object.entries(users)) {
    emails[email.toLowerCase()] ??= id
    const key = nameKey(name.first_name, name.last_name)
    names[key] = [...(names[key] ?? []), id]
  }
  return freeze({ products, users, orders, emails, names })
}

/** Returns the key of a name in the index. */
export function nameKey(first: string, last: string): string {
  return JSON.stringify([first, last]).toLowerCase()
}
