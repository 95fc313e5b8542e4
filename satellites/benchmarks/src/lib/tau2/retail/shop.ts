import { z } from 'zod'
import { optional, texts } from '../fields.ts'
import { freeze, type Rows } from '../rows.ts'

// Fields are in the order in which the original prints them.

const id = z.string()
const text = z.string()
const amount = z.number()
const options = z.record(text, text)

export const address = z.object(texts('address1', 'address2', 'city', 'country', 'state', 'zip'))

const variant = z.object({ item_id: id, options, available: z.boolean(), price: amount })

const product = z.object({ name: text, product_id: id, variants: z.record(id, variant) })

const paymentMethod = z.discriminatedUnion('source', [
  z.object({ source: z.literal('credit_card'), ...texts('id', 'brand', 'last_four') }),
  z.object({ source: z.literal('gift_card'), id, balance: amount }),
  z.object({ source: z.literal('paypal'), id }),
])

const user = z.object({
  user_id: id,
  name: z.object(texts('first_name', 'last_name')),
  address,
  email: text,
  payment_methods: z.record(id, paymentMethod),
  orders: z.array(id),
})

export const REASONS = ['no longer needed', 'ordered by mistake'] as const

const PENDING = ['pending', 'pending (item modified)'] as const
const STATUSES = [...PENDING, 'processed', 'delivered', 'cancelled', 'exchange requested', 'return requested'] as const
const ids = z.array(id)
const optionalIds = ids.nullable().default(null)

const order = z.object({
  ...texts('order_id', 'user_id'),
  address,
  items: z.array(z.object({ ...texts('name', 'product_id', 'item_id'), price: amount, options })),
  status: z.enum(STATUSES),
  fulfillments: z.array(z.object({ tracking_id: ids, item_ids: ids })),
  payment_history: z.array(
    z.object({ transaction_type: z.enum(['payment', 'refund']), amount, payment_method_id: id }),
  ),
  cancel_reason: z.enum(REASONS).nullable().default(null),
  exchange_items: optionalIds,
  exchange_new_items: optionalIds,
  ...optional('exchange_payment_method_id'),
  exchange_price_difference: amount.nullable().default(null),
  return_items: optionalIds,
  ...optional('return_payment_method_id'),
})

const tables = z.object({ products: z.record(id, product), users: z.record(id, user), orders: z.record(id, order) })

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

export function nameKey(first: string, last: string): string {
  return JSON.stringify([first, last]).toLowerCase()
}
