import { z } from 'zod'
import { calculate, roundToCents } from '../calculate.ts'
import { fail } from '../domain.ts'
import { texts } from '../fields.ts'
import { rowOf } from '../rows.ts'
import { NEGATIVE_ZERO, rulesOver } from '../rule.ts'
import type { Variant } from './shop.ts'
import { address, nameKey, type OpenShop, type Order, type PaymentMethod, REASONS, type User } from './shop.ts'

const ids = z.array(z.string())
const place = texts('address1', 'address2', 'city', 'state', 'country', 'zip')
const ofOrder = texts('order_id')
const ofUser = texts('user_id')
const method = texts('payment_method_id')
const exchange = { ...ofOrder, item_ids: ids, new_item_ids: ids, ...method }

const rule = rulesOver<OpenShop>()

/** The tools of a shop, oddities of the original included. Each throws before anything is changed. */
export const SHOP_RULES = {
  calculate: rule('reads', texts('expression'), (_, { expression }) => calculate(expression)),
  cancel_pending_order: rule('changes', texts('order_id', 'reason'), (shop, { order_id, reason }) => {
    if (findOrder(shop, order_id).status !== 'pending') fail('Non-pending order cannot be cancelled')
    const known = REASONS.find((one) => one === reason) ?? fail('Invalid reason')
    const order = shop.edit('orders', order_id)
    order.status = 'cancelled'
    order.cancel_reason = known
    // Each entry of the history is refunded, and so is an earlier refund.
    for (const { amount, payment_method_id } of [...order.payment_history]) {
      pay(shop, order.user_id, payment_method_id, -amount)
      order.payment_history.push({ transaction_type: 'refund', amount, payment_method_id })
    }
    return order
  }),
  exchange_delivered_order_items: rule('changes', exchange, (shop, given) => {
    const { item_ids: ids, new_item_ids: newIds, payment_method_id } = given
    const before = findOrder(shop, given.order_id)
    if (before.status !== 'delivered') fail('Non-delivered order cannot be exchanged')
    assertBought(before, ids, (id) => `Number of ${id} not found.`)
    if (ids.length !== newIds.length) fail('The number of items to be exchanged should match.')
    const variants = ids.map((id, i) => findReplacement(shop, before, id, newIds[i] as string))
    const difference = roundToCents(differenceOf(before, ids, variants))
    if (!covers(findMethod(shop, before.user_id, payment_method_id), difference))
      fail('Insufficient gift card balance to pay for the price difference')
    return Object.assign(shop.edit('orders', given.order_id), {
      status: 'exchange requested',
      exchange_items: ids.toSorted(),
      exchange_new_items: newIds.toSorted(),
      exchange_payment_method_id: payment_method_id,
      exchange_price_difference: Object.is(difference, -0) ? NEGATIVE_ZERO : difference,
    })
  }),
  find_user_id_by_name_zip: rule('reads', texts('first_name', 'last_name', 'zip'), (shop, given) => {
    const ids = rowOf(shop.names, nameKey(given.first_name, given.last_name)) ?? []
    return ids.find((id) => shop.read('users', id)?.address.zip === given.zip) ?? fail('User not found')
  }),
  find_user_id_by_email: rule('reads', texts('email'), ({ emails }, { email }) => {
    return rowOf(emails, email.toLowerCase()) ?? fail('User not found')
  }),
  get_order_details: rule('reads', ofOrder, (shop, { order_id }) => findOrder(shop, order_id)),
  get_product_details: rule('reads', texts('product_id'), ({ products }, { product_id }) => {
    return rowOf(products, product_id) ?? fail('Product not found')
  }),
  get_item_details: rule('reads', texts('item_id'), ({ products }, { item_id }) => {
    for (const { variants } of Object.values(products)) {
      const variant = rowOf(variants, item_id)
      if (variant) return variant
    }
    return fail('Item not found')
  }),
  get_user_details: rule('reads', ofUser, (shop, { user_id }) => findUser(shop, user_id)),
  list_all_product_types: rule('reads', {}, ({ products }) => {
    const ids = Object.values(products).map(({ name, product_id }) => [name, product_id] as const)
    return Object.fromEntries(ids.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
  }),
  modify_pending_order_address: rule('changes', { ...ofOrder, ...place }, (shop, { order_id, ...given }) => {
    assertPending(findOrder(shop, order_id))
    return Object.assign(shop.edit('orders', order_id), { address: address.parse(given) })
  }),
  modify_pending_order_items: rule('changes', exchange, (shop, given) => {
    const { item_ids: ids, new_item_ids: newIds, payment_method_id } = given
    const before = findOrder(shop, given.order_id)
    if (before.status !== 'pending') fail('Non-pending order cannot be modified')
    assertBought(before, ids, (id) => `${id} not found`)
    if (ids.length !== newIds.length) fail('The number of items to be exchanged should match')
    const variants = ids.map((id, i) => {
      if (id === newIds[i]) fail('The new item id should be different from the old item id')
      return findReplacement(shop, before, id, newIds[i] as string)
    })
    const difference = differenceOf(before, ids, variants)
    if (!covers(findMethod(shop, before.user_id, payment_method_id), difference))
      fail('Insufficient gift card balance to pay for the new item')
    pay(shop, before.user_id, payment_method_id, difference)
    const order = shop.edit('orders', given.order_id)
    const transaction_type = difference > 0 ? 'payment' : 'refund'
    order.payment_history.push({ transaction_type, amount: Math.abs(difference), payment_method_id })
    for (const [i, id] of ids.entries()) {
      // All items get price and options of the last new one.
      const { price, options } = variants.at(-1) as Variant
      const item = order.items.find((one) => one.item_id === id)
      if (item) Object.assign(item, { item_id: newIds[i], price, options: { ...options } })
    }
    order.status = 'pending (item modified)'
    return order
  }),
  modify_pending_order_payment: rule('changes', { ...ofOrder, ...method }, (shop, { order_id, payment_method_id }) => {
    const before = findOrder(shop, order_id)
    assertPending(before)
    const method = findMethod(shop, before.user_id, payment_method_id)
    const [paid, ...others] = before.payment_history
    if (!paid || others.length > 0 || paid.transaction_type !== 'payment')
      fail('There should be exactly one payment for a pending order')
    const { amount, payment_method_id: former } = paid
    if (former === payment_method_id) fail('The new payment method should be different from the current one')
    if (!covers(method, amount)) fail('Insufficient gift card balance to pay for the order')
    findMethod(shop, before.user_id, former)
    const order = shop.edit('orders', order_id)
    order.payment_history.push(
      { transaction_type: 'payment', amount, payment_method_id },
      { transaction_type: 'refund', amount, payment_method_id: former },
    )
    pay(shop, order.user_id, payment_method_id, amount)
    pay(shop, order.user_id, former, -amount)
    return order
  }),
  modify_user_address: rule('changes', { ...ofUser, ...place }, (shop, { user_id, ...given }) => {
    findUser(shop, user_id)
    return Object.assign(shop.edit('users', user_id), { address: address.parse(given) })
  }),
  return_delivered_order_items: rule('changes', { ...ofOrder, item_ids: ids, ...method }, (shop, given) => {
    const { order_id, item_ids, payment_method_id } = given
    const before = findOrder(shop, order_id)
    if (before.status !== 'delivered') fail('Non-delivered order cannot be returned')
    const { source } = findMethod(shop, before.user_id, payment_method_id)
    if (source !== 'gift_card' && payment_method_id !== before.payment_history[0]?.payment_method_id)
      fail('Payment method should be the original payment method')
    assertBought(before, item_ids, () => 'Some item not found')
    return Object.assign(shop.edit('orders', order_id), {
      status: 'return requested',
      return_items: item_ids.toSorted(),
      return_payment_method_id: payment_method_id,
    })
  }),
  transfer_to_human_agents: rule('reads', texts('summary'), () => 'Transfer successful'),
}

function findOrder(shop: OpenShop, id: string): Order {
  return shop.read('orders', id) ?? fail('Order not found')
}

function findUser(shop: OpenShop, id: string): User {
  return shop.read('users', id) ?? fail('User not found')
}

function findMethod(shop: OpenShop, userId: string, id: string): PaymentMethod {
  return rowOf(findUser(shop, userId).payment_methods, id) ?? fail('Payment method not found')
}

/** Lets an order pass whose address and payment method can be changed, whether or not its items were. */
function assertPending({ status }: Order): void {
  if (!status.includes('pending')) fail('Non-pending order cannot be modified')
}

function assertBought({ items }: Order, itemIds: readonly string[], say: (id: string) => string): void {
  for (const id of itemIds)
    if (itemIds.filter((one) => one === id).length > items.filter(({ item_id }) => item_id === id).length) fail(say(id))
}

function findReplacement({ products }: OpenShop, { items }: Order, id: string, newId: string): Variant {
  const product =
    rowOf(products, items.find(({ item_id }) => item_id === id)?.product_id ?? '') ?? fail('Product not found')
  const variant = rowOf(product.variants, newId) ?? fail('Variant not found')
  if (!variant.available) fail(`New item ${newId} not found or available`)
  return variant
}

/** What new items cost more than those of an order, unrounded. */
function differenceOf({ items }: Order, itemIds: readonly string[], variants: readonly Variant[]): number {
  const prices = itemIds.map((id) => items.find(({ item_id }) => item_id === id)?.price ?? 0)
  return variants.reduce((sum, { price }, i) => sum + (price - (prices[i] ?? 0)), 0)
}

function covers(method: PaymentMethod, amount: number): boolean {
  return method.source !== 'gift_card' || method.balance >= amount
}

/** Takes an amount from a gift card, or adds a negative one. Other payment methods have no balance. */
function pay(shop: OpenShop, userId: string, id: string, amount: number): void {
  if (findMethod(shop, userId, id).source !== 'gift_card') return
  const card = shop.edit('users', userId).payment_methods[id] as Extract<PaymentMethod, { source: 'gift_card' }>
  card.balance = roundToCents(card.balance - amount) + 0
}
