import type { Json } from '@episodic/protocol'
import { z } from 'zod'
import { CalculatorError, calculate, roundToCents } from './calculator.ts'
import { nameKey, type Order, type PaymentMethod, REASONS, rowOf, type Shop, type User, type Variant } from './shop.ts'

/** Thrown by a tool that refuses: nothing has changed. */
export class Refusal extends Error {}

/** What an agent can do in a shop. */
interface ShopTool<Input extends z.ZodType = z.ZodType> {
  readonly description: string
  readonly input: Input
  /** Whether it changes rows. */
  readonly changes: boolean
  /** Returns what the agent reads. Throws a {@link Refusal}, before anything is changed. */
  run(shop: Shop, input: z.output<Input>): Json
}

const text = z.string().max(2_000)
const id = z.string().max(100)
const orderId = id.describe('The id of the order, with the # at its beginning.')
const userId = id.describe('The id of the user.')
const productId = id.describe('The id of the type of product, which is no item id.')
const itemId = id.describe('The id of the item, which is no product id.')
const methodId = id.describe('The id of a payment method of the user.')
const itemIds = z
  .array(id.describe('The id of an item of the order.'))
  .max(100)
  .describe('The ids of the items. One that was bought twice may be there twice.')
const newItemIds = z
  .array(id.describe('The id of a new item.'))
  .max(100)
  .describe('The id of the new item for each of item_ids, in the same order: another item of the same product.')
const place = {
  address1: text.describe('The first line of the address.'),
  address2: text.describe('The second line, or an empty text.'),
  city: text.describe('The city.'),
  state: text.describe('The state, as two letters.'),
  country: text.describe('The country.'),
  zip: text.describe('The zip code.'),
}
const CONFIRM = 'List the details and let the customer agree before you call it.'

/** The tools of a shop, by their names. */
export const SHOP_TOOLS = {
  find_user_id_by_email: reading(
    'Find the id of a user by an e-mail address.',
    z.strictObject({ email: text.describe('The e-mail address.') }),
    (shop, { email }) => rowOf(shop.emails, email.toLowerCase()) ?? missing('user'),
  ),
  find_user_id_by_name_zip: reading(
    'Find the id of a user by name and zip code, if there is no user with the e-mail address or it is not known.',
    z.strictObject({
      first_name: text.describe('The first name.'),
      last_name: text.describe('The last name.'),
      zip: text.describe('The zip code.'),
    }),
    (shop, { first_name, last_name, zip }) => {
      const ids = rowOf(shop.names, nameKey(first_name, last_name)) ?? []
      return ids.find((id) => shop.users[id]?.address.zip === zip) ?? missing('user')
    },
  ),
  get_user_details: reading(
    'Read the profile of a user: address, payment methods and the ids of all orders.',
    z.strictObject({ user_id: userId }),
    (shop, { user_id }) => findUser(shop, user_id),
  ),
  get_order_details: reading(
    'Read an order: items, status, address, payments and parcels.',
    z.strictObject({ order_id: orderId }),
    (shop, { order_id }) => findOrder(shop, order_id),
  ),
  get_product_details: reading(
    'Read a type of product: all of its items with options, prices, and which are available.',
    z.strictObject({ product_id: productId }),
    (shop, { product_id }) => rowOf(shop.products, product_id) ?? missing('product'),
  ),
  get_item_details: reading(
    'Read one item of a product: its options, its price, and whether it is available.',
    z.strictObject({ item_id: itemId }),
    ({ products }, { item_id }) => {
      for (const { variants } of Object.values(products)) {
        const variant = rowOf(variants, item_id)
        if (variant) return variant
      }
      return missing('item')
    },
  ),
  list_all_product_types: reading(
    'List the names and ids of all types of products.',
    z.strictObject({}),
    ({ products }) => {
      const ids = Object.values(products).map(({ name, product_id }) => [name, product_id] as const)
      return Object.fromEntries(ids.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
    },
  ),
  calculate: reading(
    'Calculate an expression of numbers, + - * / and brackets, rounded to two places.',
    z.strictObject({ expression: z.string().max(1_000).describe('Such as 2 * (3 + 4.5).') }),
    (_, { expression }) => {
      try {
        return calculate(expression)
      } catch (error) {
        if (error instanceof CalculatorError) throw new Refusal(error.message)
        throw error
      }
    },
  ),
  transfer_to_human_agents: reading(
    'Transfer the customer to a human agent: only if they ask for one, or if policy and tools do not let you help.',
    z.strictObject({ summary: text.describe('What the customer wants.') }),
    () => 'The customer is transferred.',
  ),
  cancel_pending_order: changing(
    `Cancel a pending order. It is refunded to how it was paid: at once to a gift card, otherwise in 5 to 7 business days. ${CONFIRM}`,
    z.strictObject({
      order_id: orderId,
      reason: text.describe('One of the two reasons that the policy allows.'),
    }),
    (shop, { order_id, reason }) => {
      const order = findOrder(shop, order_id)
      if (order.status !== 'pending') throw new Refusal(`Only a pending order can be cancelled. It is ${order.status}.`)
      const known = REASONS.find((one) => one === reason)
      if (!known) throw new Refusal(`The reason is none of: ${REASONS.join(', ')}.`)
      // Each entry of the history is refunded, and so is an earlier refund.
      const refunds = order.payment_history.map(({ amount, payment_method_id }) => ({
        amount,
        payment_method_id,
        method: findMethod(shop, order.user_id, payment_method_id),
      }))
      for (const { amount, method } of refunds) pay(method, -amount)
      order.status = 'cancelled'
      order.cancel_reason = known
      for (const { amount, payment_method_id } of refunds)
        order.payment_history.push({ transaction_type: 'refund', amount, payment_method_id })
      return order
    },
  ),
  modify_pending_order_address: changing(
    `Change the address to which a pending order is sent. ${CONFIRM}`,
    z.strictObject({ order_id: orderId, ...place }),
    (shop, { order_id, address1, address2, city, state, country, zip }) => {
      const order = findModifiable(shop, order_id)
      order.address = { address1, address2, city, country, state, zip }
      return order
    },
  ),
  modify_pending_order_items: changing(
    `Change items of a pending order to other items of the same product. It can be called once for an order, which cannot be cancelled or changed so again. ${CONFIRM}`,
    z.strictObject({ order_id: orderId, item_ids: itemIds, new_item_ids: newItemIds, payment_method_id: methodId }),
    (shop, { order_id, item_ids, new_item_ids, payment_method_id }) => {
      const order = findOrder(shop, order_id)
      if (order.status !== 'pending') throw new Refusal(`Only a pending order can be changed. It is ${order.status}.`)
      const variants = findReplacements(shop, order, item_ids, new_item_ids, { refuseSame: true })
      const difference = differenceOf(order, item_ids, variants)
      const method = findMethod(shop, order.user_id, payment_method_id)
      assertCovers(method, difference)
      order.payment_history.push({
        transaction_type: difference > 0 ? 'payment' : 'refund',
        amount: Math.abs(difference),
        payment_method_id,
      })
      pay(method, difference)
      for (const [i, item_id] of item_ids.entries()) {
        const item = order.items.find((one) => one.item_id === item_id)
        // As in τ²-bench, all items get price and options of the last new one.
        const last = variants.at(-1)
        if (item && last)
          Object.assign(item, { item_id: new_item_ids[i], price: last.price, options: { ...last.options } })
      }
      order.status = 'pending (item modified)'
      return order
    },
  ),
  modify_pending_order_payment: changing(
    `Change the payment method of a pending order, and refund the former one. ${CONFIRM}`,
    z.strictObject({ order_id: orderId, payment_method_id: methodId }),
    (shop, { order_id, payment_method_id }) => {
      const order = findModifiable(shop, order_id)
      const method = findMethod(shop, order.user_id, payment_method_id)
      const [paid, ...others] = order.payment_history
      if (!paid || others.length > 0 || paid.transaction_type !== 'payment')
        throw new Refusal('The order has not exactly one payment, so that its payment method cannot be changed.')
      const { amount } = paid
      const former = paid.payment_method_id
      if (former === payment_method_id) throw new Refusal('The order is paid with this payment method already.')
      assertCovers(method, amount)
      const formerMethod = findMethod(shop, order.user_id, former)
      order.payment_history.push({ transaction_type: 'payment', amount, payment_method_id })
      order.payment_history.push({ transaction_type: 'refund', amount, payment_method_id: former })
      pay(method, amount)
      pay(formerMethod, -amount)
      return order
    },
  ),
  modify_user_address: changing(
    `Change the address in the profile of a user. ${CONFIRM}`,
    z.strictObject({ user_id: userId, ...place }),
    (shop, { user_id, address1, address2, city, state, country, zip }) => {
      const user = findUser(shop, user_id)
      user.address = { address1, address2, city, country, state, zip }
      return user
    },
  ),
  return_delivered_order_items: changing(
    `Return items of a delivered order. The refund goes to how the order was paid, or to a gift card of the user. ${CONFIRM}`,
    z.strictObject({ order_id: orderId, item_ids: itemIds, payment_method_id: methodId }),
    (shop, { order_id, item_ids, payment_method_id }) => {
      const order = findOrder(shop, order_id)
      if (order.status !== 'delivered')
        throw new Refusal(`Only items of a delivered order can be returned. It is ${order.status}.`)
      const { source } = findMethod(shop, order.user_id, payment_method_id)
      if (source !== 'gift_card' && payment_method_id !== order.payment_history[0]?.payment_method_id)
        throw new Refusal('A refund goes to the payment method of the order, or to a gift card.')
      assertBought(order, item_ids)
      order.status = 'return requested'
      order.return_items = item_ids.toSorted()
      order.return_payment_method_id = payment_method_id
      return order
    },
  ),
  exchange_delivered_order_items: changing(
    `Exchange items of a delivered order for other items of the same product. It can be called once for an order. ${CONFIRM}`,
    z.strictObject({ order_id: orderId, item_ids: itemIds, new_item_ids: newItemIds, payment_method_id: methodId }),
    (shop, { order_id, item_ids, new_item_ids, payment_method_id }) => {
      const order = findOrder(shop, order_id)
      if (order.status !== 'delivered')
        throw new Refusal(`Only items of a delivered order can be exchanged. It is ${order.status}.`)
      const variants = findReplacements(shop, order, item_ids, new_item_ids, { refuseSame: false })
      // A state has no negative zero.
      const difference = roundToCents(differenceOf(order, item_ids, variants)) + 0
      assertCovers(findMethod(shop, order.user_id, payment_method_id), difference)
      order.status = 'exchange requested'
      order.exchange_items = item_ids.toSorted()
      order.exchange_new_items = new_item_ids.toSorted()
      order.exchange_payment_method_id = payment_method_id
      order.exchange_price_difference = difference
      return order
    },
  ),
} satisfies Record<string, ShopTool>

export type ShopToolName = keyof typeof SHOP_TOOLS

/** Returns the tool of a shop with that name, its types erased, or `undefined`. */
export function shopToolNamed(name: string): ShopTool | undefined {
  return rowOf<ShopTool>(SHOP_TOOLS as unknown as Record<string, ShopTool>, name)
}

function reading<Input extends z.ZodType>(
  description: string,
  input: Input,
  run: ShopTool<Input>['run'],
): ShopTool<Input> {
  return { description, input, run, changes: false }
}

function changing<Input extends z.ZodType>(
  description: string,
  input: Input,
  run: ShopTool<Input>['run'],
): ShopTool<Input> {
  return { description, input, run, changes: true }
}

function missing(what: string): never {
  throw new Refusal(`There is no such ${what}.`)
}

function findOrder({ orders }: Shop, id: string): Order {
  return rowOf(orders, id) ?? missing('order')
}

function findUser({ users }: Shop, id: string): User {
  return rowOf(users, id) ?? missing('user')
}

function findMethod(shop: Shop, userId: string, id: string): PaymentMethod {
  return rowOf(findUser(shop, userId).payment_methods, id) ?? missing('payment method of the user')
}

/** Returns an order whose address and payment method can be changed, whether or not its items were. */
function findModifiable(shop: Shop, id: string): Order {
  const order = findOrder(shop, id)
  if (!order.status.includes('pending'))
    throw new Refusal(`Only a pending order can be changed. It is ${order.status}.`)
  return order
}

/** Refuses items of which fewer were bought. */
function assertBought({ items }: Order, itemIds: readonly string[]): void {
  for (const id of itemIds)
    if (itemIds.filter((one) => one === id).length > items.filter(({ item_id }) => item_id === id).length)
      throw new Refusal(`The order has fewer items ${id}.`)
}

/** Returns the items that are to replace those of an order. */
function findReplacements(
  { products }: Shop,
  order: Order,
  itemIds: readonly string[],
  newItemIds: readonly string[],
  { refuseSame }: { readonly refuseSame: boolean },
): readonly Variant[] {
  assertBought(order, itemIds)
  if (itemIds.length !== newItemIds.length) throw new Refusal('Each item needs one new item.')
  return itemIds.map((id, i) => {
    const newId = newItemIds[i] as string
    if (refuseSame && id === newId) throw new Refusal(`The new item ${newId} is the old one.`)
    const productId = order.items.find(({ item_id }) => item_id === id)?.product_id ?? ''
    const variant = rowOf(rowOf(products, productId)?.variants ?? {}, newId)
    if (!variant) throw new Refusal(`The item ${newId} is none of the same product.`)
    if (!variant.available) throw new Refusal(`The item ${newId} is not available.`)
    return variant
  })
}

/** What new items cost more than those of an order, unrounded. */
function differenceOf({ items }: Order, itemIds: readonly string[], variants: readonly Variant[]): number {
  const prices = itemIds.map((id) => items.find(({ item_id }) => item_id === id)?.price ?? 0)
  return variants.reduce((sum, { price }, i) => sum + (price - (prices[i] ?? 0)), 0)
}

function assertCovers(method: PaymentMethod, amount: number): void {
  if (method.source === 'gift_card' && method.balance < amount)
    throw new Refusal(`The gift card has ${method.balance}, which is less than ${roundToCents(amount)}.`)
}

/** Takes an amount from a gift card, or adds a negative one. Other payment methods have no balance. */
function pay(method: PaymentMethod, amount: number): void {
  if (method.source === 'gift_card') method.balance = roundToCents(method.balance - amount) + 0
}
