import type { Address, Order, Product, ShopRows as Rows, Shop, User, Variant } from '@episodic/benchmarks/tau2/shop'
import { roundToCents } from '@episodic/benchmarks/tau2/shop'
import type { Action, Rng } from '@episodic/protocol'
import { changeRows } from './desk.ts'
import { drawAddress } from './generated-shop.ts'

/** What a customer wants, in their words: the request, and what they answer when they are asked for more. */
export interface Request {
  readonly text: string
  readonly payment: string | null
  readonly reason: string | null
}

/** A customer with requests, and how they are served. */
export interface Case {
  readonly identity: string
  readonly requests: readonly Request[]
  /** The calls that change what has to change, in their order. */
  readonly solution: readonly Action[]
  /** What the customer is to be informed of. */
  readonly facts: readonly string[]
  /** Whether the customer is to be transferred to a human agent. */
  readonly transfer: boolean
}

interface DrawnRequest extends Partial<Omit<Case, 'requests' | 'identity'>> {
  readonly text: string
  readonly question?: string
  readonly payment?: string
  readonly reason?: string
}

/** What a request is drawn from. */
interface Draw {
  readonly rng: Rng
  readonly products: Shop['products']
  /** The customer, and the orders that no request is about yet, as they are after the requests before. */
  readonly user: User
  readonly orders: readonly Order[]
  /** How the customer names an order: by its id, or by an item that is in no other order. `null`: not at all. */
  refer(order: Order): string | null
}

/** A request of each kind; `null` if the customer cannot have one. */
const KINDS: Readonly<Record<string, (draw: Draw) => DrawnRequest | null>> = {
  cancel: (draw) =>
    about(draw, 'pending', (order, named) => {
      const [text, reason] = draw.rng.pick([
        ['I do not need it any more.', 'no longer needed'],
        ['I ordered it by mistake.', 'ordered by mistake'],
      ] as const)
      return {
        text: `Please cancel ${named}.`,
        reason: text,
        solution: [call('cancel_pending_order', { order_id: order.order_id, reason })],
        ...asking(draw, 'How much do I get back?', order.payment_history[0]?.amount ?? 0),
      }
    }),
  address: (draw) =>
    about(draw, 'pending', ({ order_id }, named) => {
      const address = drawAddress(draw.rng)
      return {
        text: `Please send ${named} to another address: ${written(address)}.`,
        solution: [call('modify_pending_order_address', { order_id, ...address })],
      }
    }),
  payment: (draw) =>
    about(draw, 'pending', ({ order_id, payment_history: [paid] }, named) => {
      const methods = Object.values(draw.user.payment_methods).filter(
        (method) =>
          method.id !== paid?.payment_method_id &&
          (method.source !== 'gift_card' || method.balance >= (paid?.amount ?? 0)),
      )
      if (methods.length === 0) return null
      const { id, source } = draw.rng.pick(methods)
      return {
        text: `I would like to pay for ${named} in another way.`,
        payment: `With my ${SOURCES[source]}, please.`,
        solution: [call('modify_pending_order_payment', { order_id, payment_method_id: id })],
      }
    }),
  items: (draw) =>
    about(draw, 'pending', (order, named) =>
      replacing(draw, order, 'modify_pending_order_items', (name) => `In ${named}, please change the ${name} to`),
    ),
  exchange: (draw) =>
    about(draw, 'delivered', (order, named) =>
      replacing(
        draw,
        order,
        'exchange_delivered_order_items',
        (name) => `Please exchange the ${name} from ${named} for`,
      ),
    ),
  return: (draw) =>
    about(draw, 'delivered', ({ order_id, items, payment_history: [paid] }, named) => {
      const returned = draw.rng.shuffle(items).slice(0, draw.rng.int(1, Math.min(2, items.length)))
      const methods = Object.values(draw.user.payment_methods).filter(
        ({ id, source }) => id === paid?.payment_method_id || source === 'gift_card',
      )
      const { id, source } = draw.rng.pick(methods)
      return {
        text: `I would like to return the ${returned.map(({ name }) => name).join(' and the ')} from ${named}.`,
        payment: `Refund it to my ${SOURCES[source]}, please.`,
        solution: [
          call('return_delivered_order_items', {
            order_id,
            item_ids: returned.map(({ item_id }) => item_id),
            payment_method_id: id,
          }),
        ],
        ...asking(draw, 'How much do I get back?', sumOf(returned)),
      }
    }),
  move: ({ rng, user: { user_id } }) => {
    const address = drawAddress(rng)
    return {
      text: `I have moved. My address is now: ${written(address)}.`,
      solution: [call('modify_user_address', { user_id, ...address })],
    }
  },
  total: (draw) =>
    about(draw, null, ({ items }, named) => ({
      text: `What did ${named} cost altogether?`,
      facts: [formatAmount(sumOf(items))],
    })),
  balance({ user: { payment_methods } }) {
    const card = Object.values(payment_methods).find(({ source }) => source === 'gift_card')
    if (card?.source !== 'gift_card') return null
    return { text: 'How much money is left on my gift card?', facts: [formatAmount(card.balance)] }
  },
  parcel: (draw) =>
    about(draw, 'delivered', ({ fulfillments }, named) => ({
      text: `What is the tracking number of ${named}?`,
      facts: fulfillments.flatMap(({ tracking_id }) => tracking_id),
    })),
  // The policy does not allow it: nothing is to change.
  late: (draw) =>
    about(draw, 'processed', ({ status }, named) => ({
      text: `Please cancel ${named}.`,
      question: 'If you cannot, say what its status is.',
      facts: [status],
    })),
  broken: (draw) =>
    about(draw, 'delivered', (_, named) => ({
      text: `Something from ${named} arrived broken, and I want to speak with a person about it.`,
      transfer: true,
    })),
}

const KIND_NAMES = Object.keys(KINDS)

/** How a customer names a payment method. Nobody has two of a kind. */
export const SOURCES = { credit_card: 'credit card', gift_card: 'gift card', paypal: 'PayPal account' } as const

/**
 * Draws a customer of a shop with so many requests, each of another kind and about another order.
 *
 * - `remembers`: whether the customer knows the e-mail address that the shop has, and the ids of orders.
 */
export function drawCase(shop: Shop, rng: Rng, requests: number, remembers: boolean): Case {
  const users = Object.keys(shop.users)
  for (;;) {
    const drawn = drawRequests(shop, rng, rng.pick(users), requests, remembers)
    if (drawn) return drawn
  }
}

function drawRequests(shop: Shop, rng: Rng, userId: string, count: number, remembers: boolean): Case | null {
  const user = shop.users[userId] as User
  const { first_name, last_name } = user.name
  const rows: Rows = { users: { [userId]: structuredClone(user) as User }, orders: {} }
  const all = user.orders.map((id) => shop.orders[id] as Order)
  const named = new Set<string>()
  const draw: Draw = {
    rng,
    products: shop.products,
    get user() {
      return rows.users[userId] as User
    },
    get orders() {
      return all.filter(({ order_id }) => !named.has(order_id))
    },
    refer(order) {
      const own = ({ name }: Order['items'][number]) =>
        all.every((other) => other === order || other.items.every((item) => item.name !== name))
      const item = order.items.find(own)
      if (!remembers && !item) return null
      named.add(order.order_id)
      return remembers ? `order ${order.order_id}` : `the order with the ${item?.name}`
    },
  }
  const drawn: DrawnRequest[] = []
  for (const kind of rng.shuffle(KIND_NAMES)) {
    if (drawn.length === count) break
    const request = KINDS[kind]?.(draw)
    // A transfer is the last request, and not the only one, which chance would find.
    if (!request || (request.transfer && (drawn.length === 0 || drawn.length < count - 1))) continue
    for (const action of request.solution ?? [])
      if (!changeRows(shop, rows, action))
        throw new Error(`The shop refuses what solves a request of the kind ${kind}.`)
    drawn.push(request)
  }
  if (drawn.length < count) return null
  return {
    identity: remembers
      ? `My e-mail address is ${user.email}.`
      : `I forgot which e-mail address you have. I am ${first_name} ${last_name}, zip code ${user.address.zip}.`,
    requests: drawn.map(({ text, question = '', payment = null, reason = null }) => ({
      text: `${text} ${question}`.trim(),
      payment,
      reason,
    })),
    solution: drawn.flatMap(({ solution = [] }) => solution),
    facts: drawn.flatMap(({ facts = [] }) => facts),
    transfer: drawn.some(({ transfer }) => transfer),
  }
}

/** Draws a request about an order with a status, or with any. */
function about(
  { rng, orders, refer }: Draw,
  status: Order['status'] | null,
  request: (order: Order, named: string) => DrawnRequest | null,
): DrawnRequest | null {
  const order = rng.shuffle(orders.filter((one) => status === null || one.status === status))[0]
  const named = order && refer(order)
  return named ? request(order, named) : null
}

function replacing(
  draw: Draw,
  { order_id, items }: Order,
  tool: string,
  begin: (name: string) => string,
): DrawnRequest | null {
  const { rng, products, user } = draw
  const item = rng.pick(items)
  const wish = drawWish(rng, item, products[item.product_id] as Product)
  if (!wish) return null
  const difference = roundToCents(wish.variant.price - item.price)
  const methods = Object.values(user.payment_methods).filter(
    (method) => method.source !== 'gift_card' || method.balance >= difference,
  )
  if (methods.length === 0) return null
  const { id, source } = rng.pick(methods)
  return {
    text: `${begin(item.name)} ${wish.text}.`,
    payment: `Use my ${SOURCES[source]} for the difference, please.`,
    solution: [
      call(tool, {
        order_id,
        item_ids: [item.item_id],
        new_item_ids: [wish.variant.item_id],
        payment_method_id: id,
      }),
    ],
    ...(difference !== 0 && asking(draw, 'What is the difference in price?', Math.abs(difference))),
  }
}

/** Draws which other item of a product a customer wishes: one that differs in one option, or the cheapest one. */
function drawWish(
  rng: Rng,
  { item_id, options }: Order['items'][number],
  { variants }: Product,
): { readonly text: string; readonly variant: Variant } | null {
  const others = Object.values(variants).filter((variant) => variant.available && variant.item_id !== item_id)
  const near = others.flatMap((variant) => {
    const different = Object.keys(options).filter((option) => variant.options[option] !== options[option])
    return different.length === 1 ? [{ variant, option: different[0] as string }] : []
  })
  if (near.length > 0 && rng.chance(0.7)) {
    const { variant, option } = rng.pick(near)
    return { text: `the one with ${option} ${variant.options[option]} and all else the same`, variant }
  }
  const [variant, next] = others.toSorted((a, b) => a.price - b.price)
  return variant && variant.price !== next?.price ? { text: 'the cheapest other one that you have', variant } : null
}

/** Lets the customer ask for an amount, in one of two cases. */
function asking({ rng }: Draw, question: string, amount: number) {
  return rng.chance() ? { facts: [formatAmount(amount)], question } : undefined
}

function sumOf(items: readonly { readonly price: number }[]): number {
  return items.reduce((sum, { price }) => sum + price, 0)
}

function formatAmount(amount: number): string {
  return roundToCents(amount).toFixed(2)
}

function written({ address1, address2, city, state, zip, country }: Address): string {
  return [address1, address2, city, `${state} ${zip}`, country].filter(Boolean).join(', ')
}

function call(tool: string, args: Action['arguments']): Action {
  return { tool, arguments: args }
}
