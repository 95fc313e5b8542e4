import type { Order, PaymentMethod, Product, User } from '@episodic/benchmarks/tau2/shop'
import { definePolicy } from '@episodic/env'
import type { Action, JsonObject } from '@episodic/protocol'
import { SOURCES } from './requests.ts'

/** Reads what the customer says and what the tools return, and serves one request after the other. */
export const solver = definePolicy({ name: 'clerk', start: () => player(serve(Number.POSITIVE_INFINITY)) })

/** Serves the first request as well, says no amount, and does not ask whether there is anything else. */
export const stumbling = definePolicy({ name: 'stumbling', start: () => player(serve(1)) })

/** Plays one action after the other, and is given the text that each of them led to. */
type Clerk<Result> = Generator<Action, Result, string>

function player(clerk: Clerk<never>) {
  return ({ text }: { readonly text: string }): Action => clerk.next(text).value
}

function* serve(most: number): Clerk<never> {
  const greeted = yield say(
    'Hello! What can I do for you? Please give me your e-mail address, or your name and zip code.',
  )
  const user = yield* findUser(greeted)
  for (let served = 0, text = greeted; served < most && !text.includes('that is all'); served++) {
    const answer = yield* serveRequest(user, customerIn(text))
    if (most === 1) break
    text = yield say(`${answer} Is there anything else?`)
  }
  for (;;) yield call('close_case', {})
}

function* findUser(text: string): Clerk<User> {
  const email = /e-mail address is (\S+@\S+)\./.exec(text)?.[1]
  const [, first_name = '', last_name = '', zip = ''] = /I am (\S+) (\S+), zip code (\d+)/.exec(text) ?? []
  const [user_id] = (
    email
      ? yield call('find_user_id_by_email', { email })
      : yield call('find_user_id_by_name_zip', { first_name, last_name, zip })
  ).split('\n')
  return rowIn(yield call('get_user_details', { user_id: user_id ?? '' }))
}

/** Serves a request, and returns what the customer wants to know. */
function* serveRequest({ user_id }: User, request: string): Clerk<string> {
  // Read again: requests before this one may have changed it.
  const user = rowIn<User>(yield call('get_user_details', { user_id }))
  const address = /: ([^:]+, USA)\./.exec(request)?.[1]
  if (request.startsWith('I have moved')) {
    yield* confirm()
    yield call('modify_user_address', { user_id, ...addressIn(address as string) })
    return 'Your address is changed.'
  }
  if (request.startsWith('How much money')) return `It is $${methodIn(user, 'gift card', 'balance').toFixed(2)}.`
  const order = yield* findOrder(user, request)
  const { order_id } = order
  const total = order.items.reduce((sum, { price }) => sum + price, 0).toFixed(2)
  if (request.startsWith('What did')) return `It was $${total}.`
  if (request.startsWith('What is the tracking number')) return `It is ${order.fulfillments[0]?.tracking_id[0]}.`
  if (request.startsWith('Something')) {
    yield call('transfer_to_human_agents', { summary: request })
    return 'A colleague takes over.'
  }
  if (request.startsWith('Please cancel')) {
    if (order.status !== 'pending') return `I am sorry, I cannot: it is ${order.status}.`
    const reason = (yield* confirm('Please give me the reason.')).includes('mistake')
      ? 'ordered by mistake'
      : 'no longer needed'
    yield call('cancel_pending_order', { order_id, reason })
    return `You get back $${total}.`
  }
  if (address) {
    yield* confirm()
    yield call('modify_pending_order_address', { order_id, ...addressIn(address) })
    return 'It goes to the new address.'
  }
  const payment_method_id = methodIn(user, yield* confirm('Please name the payment method.'), 'id')
  if (request.startsWith('I would like to pay')) {
    yield call('modify_pending_order_payment', { order_id, payment_method_id })
    return 'It is paid in the new way.'
  }
  if (request.startsWith('I would like to return')) {
    const returned = order.items.filter(({ name }) => request.split(' from ')[0]?.includes(name))
    const item_ids = returned.map(({ item_id }) => item_id)
    yield call('return_delivered_order_items', { order_id, item_ids, payment_method_id })
    return `You get back $${returned.reduce((sum, { price }) => sum + price, 0).toFixed(2)}.`
  }
  const [, name, wish = ''] = /(?:change|exchange) the (.+?) (?:to|from .+ for) (the .+?)\./.exec(request) ?? []
  const item = order.items.find((one) => one.name === name) as Order['items'][number]
  const product = rowIn<Product>(yield call('get_product_details', { product_id: item.product_id }))
  const chosen = wished(product, item, wish)
  const replaced = { order_id, item_ids: [item.item_id], new_item_ids: [chosen.item_id], payment_method_id }
  const isPending = order.status === 'pending'
  yield call(isPending ? 'modify_pending_order_items' : 'exchange_delivered_order_items', replaced)
  return `The difference is $${Math.abs(chosen.price - item.price).toFixed(2)}.`
}

function wished({ variants }: Product, { item_id, options }: Order['items'][number], wish: string) {
  const others = Object.values(variants).filter((variant) => variant.available && variant.item_id !== item_id)
  const [, change] = /^the one with (.+) and all else the same$/.exec(wish) ?? []
  const option = Object.keys(options).find((key) => change?.startsWith(`${key} `))
  const right = option
    ? others.filter((variant) =>
        Object.entries(variant.options).every(
          ([key, value]) => value === (key === option ? change?.slice(key.length + 1) : options[key]),
        ),
      )
    : others.toSorted((a, b) => a.price - b.price)
  return right[0] as Product['variants'][string]
}

/** Finds the order that a request names by its id, or by an item that is in it. */
function* findOrder({ orders }: User, request: string): Clerk<Order> {
  const [id] = /#S\d+/.exec(request) ?? []
  if (id) return rowIn(yield call('get_order_details', { order_id: id }))
  const [, name] = /the order with the ((?:[A-Z]\w+ ?)+)/.exec(request) ?? []
  for (const order_id of orders) {
    const order = rowIn<Order>(yield call('get_order_details', { order_id }))
    if (order.items.some((item) => item.name === name?.trim())) return order
  }
  throw new Error(`No order is named by: ${request}`)
}

/** Lets the customer agree, and returns what they say. */
function* confirm(question = ''): Clerk<string> {
  return customerIn(yield say(`I am about to do what you ask. ${question} Shall I go ahead?`))
}

function methodIn<Field extends 'id' | 'balance'>(user: User, text: string, field: Field) {
  const method = Object.values(user.payment_methods).find(({ source }) => text.includes(SOURCES[source]))
  return (method as PaymentMethod & Record<Field, Field extends 'id' ? string : number>)[field]
}

function addressIn(text: string) {
  const parts = text.split(', ')
  const [country = '', region = '', city = ''] = parts.toReversed()
  const [state = '', zip = ''] = region.split(' ')
  const [address1 = '', address2 = ''] = parts.slice(0, -3)
  return { address1, address2, city, state, country, zip }
}

/** Returns the last words of the customer, which follow each answer. */
function customerIn(text: string): string {
  return text.slice(text.lastIndexOf('The customer: ') + 'The customer: '.length)
}

/** Returns the row that is the first line of an answer. */
function rowIn<Row>(text: string): Row {
  return JSON.parse(text.split('\n', 1)[0] as string) as Row
}

function say(text: string): Action {
  return call('say', { text })
}

function call(tool: string, args: JsonObject): Action {
  return { tool, arguments: args }
}
