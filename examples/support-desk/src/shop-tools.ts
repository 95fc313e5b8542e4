import { type OpenShop, REASONS, rowOf, SHOP_RULES, type Shop, ToolError } from '@episodic/benchmarks/tau2/shop'
import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'

/** Thrown by a tool that refuses: nothing has changed. */
export class Refusal extends Error {}

/** What an agent can do in a shop. */
interface ShopTool {
  readonly description: string
  readonly input: z.ZodObject
  /** Whether it changes rows. */
  readonly changes: boolean
  /** Returns what the agent reads. Throws a {@link Refusal}, before anything is changed. */
  run(shop: Shop, input: Record<string, unknown>): unknown
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

/** The descriptions and inputs of the tools, by their names. The rules are those of the retail domain of τ²-bench. */
const DESCRIBED = {
  find_user_id_by_email: described(
    'Find the id of a user by an e-mail address.',
    z.strictObject({ email: text.describe('The e-mail address.') }),
  ),
  find_user_id_by_name_zip: described(
    'Find the id of a user by name and zip code, if there is no user with the e-mail address or it is not known.',
    z.strictObject({
      first_name: text.describe('The first name.'),
      last_name: text.describe('The last name.'),
      zip: text.describe('The zip code.'),
    }),
  ),
  get_user_details: described(
    'Read the profile of a user: address, payment methods and the ids of all orders.',
    z.strictObject({ user_id: userId }),
  ),
  get_order_details: described(
    'Read an order: items, status, address, payments and parcels.',
    z.strictObject({ order_id: orderId }),
  ),
  get_product_details: described(
    'Read a type of product: all of its items with options, prices, and which are available.',
    z.strictObject({ product_id: productId }),
  ),
  get_item_details: described(
    'Read one item of a product: its options, its price, and whether it is available.',
    z.strictObject({ item_id: itemId }),
  ),
  list_all_product_types: described('List the names and ids of all types of products.', z.strictObject({})),
  calculate: described(
    'Calculate an expression of numbers, + - * / and brackets, rounded to two places.',
    z.strictObject({ expression: z.string().max(1_000).describe('Such as 2 * (3 + 4.5).') }),
  ),
  transfer_to_human_agents: described(
    'Transfer the customer to a human agent: only if they ask for one, or if policy and tools do not let you help.',
    z.strictObject({ summary: text.describe('What the customer wants.') }),
  ),
  cancel_pending_order: described(
    `Cancel a pending order. It is refunded to how it was paid: at once to a gift card, otherwise in 5 to 7 business days. ${CONFIRM}`,
    z.strictObject({
      order_id: orderId,
      reason: text.describe('One of the two reasons that the policy allows.'),
    }),
  ),
  modify_pending_order_address: described(
    `Change the address to which a pending order is sent. ${CONFIRM}`,
    z.strictObject({ order_id: orderId, ...place }),
  ),
  modify_pending_order_items: described(
    `Change items of a pending order to other items of the same product. It can be called once for an order, which cannot be cancelled or changed so again. ${CONFIRM}`,
    z.strictObject({ order_id: orderId, item_ids: itemIds, new_item_ids: newItemIds, payment_method_id: methodId }),
  ),
  modify_pending_order_payment: described(
    `Change the payment method of a pending order, and refund the former one. ${CONFIRM}`,
    z.strictObject({ order_id: orderId, payment_method_id: methodId }),
  ),
  modify_user_address: described(
    `Change the address in the profile of a user. ${CONFIRM}`,
    z.strictObject({ user_id: userId, ...place }),
  ),
  return_delivered_order_items: described(
    `Return items of a delivered order. The refund goes to how the order was paid, or to a gift card of the user. ${CONFIRM}`,
    z.strictObject({ order_id: orderId, item_ids: itemIds, payment_method_id: methodId }),
  ),
  exchange_delivered_order_items: described(
    `Exchange items of a delivered order for other items of the same product. It can be called once for an order. ${CONFIRM}`,
    z.strictObject({ order_id: orderId, item_ids: itemIds, new_item_ids: newItemIds, payment_method_id: methodId }),
  ),
} satisfies { readonly [Name in keyof typeof SHOP_RULES]: unknown }

function described(description: string, input: z.ZodObject) {
  return { description, input }
}

export type ShopToolName = keyof typeof DESCRIBED

/** The tools of a shop, by their names. */
const SHOP_TOOLS: Readonly<Record<string, ShopTool>> = Object.fromEntries(
  Object.entries(DESCRIBED).map(([name, { description, input }]) => {
    const { changes, run } = SHOP_RULES[name as ShopToolName]
    return [name, { description, input, changes, run: (shop, given) => runRule(run, shop, given) }]
  }),
)

/** The names of the tools of a shop. */
export const SHOP_TOOL_NAMES = Object.keys(DESCRIBED) as readonly ShopToolName[]

/** Returns the tool of a shop with that name, or `undefined`. */
export function shopToolNamed(name: string): ShopTool | undefined {
  return rowOf(SHOP_TOOLS, name)
}

function runRule(run: (shop: OpenShop, input: JsonObject) => unknown, shop: Shop, input: Record<string, unknown>) {
  const row: OpenShop['edit'] = (table, id) => rowOf<object>(shop[table], id) as never
  try {
    const found = run({ ...shop, read: row, edit: row }, input as JsonObject)
    return typeof found === 'string' ? (WORDS[found] ?? found) : found
  } catch (error) {
    throw error instanceof ToolError ? new Refusal(wordsFor(error.message)) : error
  }
}

/** What the original says, in the words of this shop. */
const WORDS: Readonly<Record<string, string>> = {
  'Transfer successful': 'The customer is transferred.',
  'Payment method not found': 'There is no such payment method of the user.',
  'Variant not found': 'The new item is none of the same product.',
  'Some item not found': 'The order has fewer of these items.',
  'Invalid reason': `The reason is none of: ${REASONS.join(', ')}.`,
  'Non-pending order cannot be cancelled': 'Only a pending order can be cancelled.',
  'Non-pending order cannot be modified': 'Only a pending order can be changed.',
  'Non-delivered order cannot be returned': 'Only items of a delivered order can be returned.',
  'Non-delivered order cannot be exchanged': 'Only items of a delivered order can be exchanged.',
  'Payment method should be the original payment method':
    'A refund goes to the payment method of the order, or to a gift card.',
  'division by zero': 'Nothing can be divided by zero.',
}

function wordsFor(message: string): string {
  const missing = /^(User|Order|Product|Item) not found$/.exec(message)?.[1]
  return missing ? `There is no such ${missing.toLowerCase()}.` : (WORDS[message] ?? message.replace(/\.?$/, '.'))
}
