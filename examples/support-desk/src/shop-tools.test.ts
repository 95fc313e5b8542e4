import { describe, expect, it } from 'vitest'
import { changeRows } from './desk.ts'
import { createShop, type Order, type Rows } from './shop.ts'
import { Refusal, SHOP_TOOLS } from './shop-tools.ts'

const ADDRESS = { address1: '1 Mill Lane', address2: '', city: 'Salem', country: 'USA', state: 'OR', zip: '97301' }
const OTHER = { ...ADDRESS, address1: '2 Mill Lane' }

const order = (id: string, status: string, bought: readonly string[], method = 'gift_card_1') => ({
  order_id: id,
  user_id: 'ada_abel_1',
  address: ADDRESS,
  items: bought.map((item_id) => ({ name: 'Lamp', product_id: 'lamp', item_id, ...VARIANTS[item_id as 'a'] })),
  status,
  fulfillments: [],
  payment_history: [{ transaction_type: 'payment', amount: 20.1, payment_method_id: method }],
})

const VARIANTS = {
  a: { price: 10.05, options: { color: 'red' } },
  b: { price: 12.1, options: { color: 'blue' } },
  c: { price: 30.35, options: { color: 'green' } },
}

const SHOP = createShop({
  products: {
    lamp: {
      name: 'Lamp',
      product_id: 'lamp',
      variants: {
        ...Object.fromEntries(
          Object.entries(VARIANTS).map(([item_id, rest]) => [item_id, { item_id, available: true, ...rest }]),
        ),
        gone: { item_id: 'gone', available: false, price: 1, options: {} },
      },
    },
  },
  users: {
    ada_abel_1: {
      user_id: 'ada_abel_1',
      name: { first_name: 'Ada', last_name: 'Abel' },
      address: ADDRESS,
      email: 'Ada.Abel1@example.com',
      payment_methods: {
        gift_card_1: { source: 'gift_card', id: 'gift_card_1', balance: 20.2 },
        paypal_1: { source: 'paypal', id: 'paypal_1' },
      },
      orders: ['#1', '#2'],
    },
  },
  orders: {
    '#1': order('#1', 'pending', ['a', 'a']),
    '#2': order('#2', 'delivered', ['a', 'b'], 'paypal_1'),
    '#3': order('#3', 'processed', ['a']),
  },
})

/** Plays calls of tools one after the other, and returns the rows that they changed, and which were refused. */
function play(
  ...calls: readonly (readonly [tool: keyof typeof SHOP_TOOLS, args: Record<string, string | string[]>])[]
) {
  const rows: Rows = { users: {}, orders: {} }
  const refused = calls.flatMap(([tool, args], i) => (changeRows(SHOP, rows, { tool, arguments: args }) ? [] : [i]))
  const card = rows.users.ada_abel_1?.payment_methods.gift_card_1
  return {
    refused,
    rows,
    order: (id: string) => rows.orders[id] as Order,
    balance: card?.source === 'gift_card' ? card.balance : null,
  }
}

const cancel = (order_id: string, reason = 'no longer needed') =>
  ['cancel_pending_order', { order_id, reason }] as const
const replace = (tool: 'modify_pending_order_items' | 'exchange_delivered_order_items', order_id: string) =>
  function call(item_ids: string[], new_item_ids: string[], payment_method_id = 'paypal_1') {
    return [tool, { order_id, item_ids, new_item_ids, payment_method_id }] as const
  }
const modify = replace('modify_pending_order_items', '#1')
const exchange = replace('exchange_delivered_order_items', '#2')

describe('the tools of the shop', () => {
  it('find a user by e-mail address, or by name and present zip code, in upper and lower case', () => {
    const { find_user_id_by_email, find_user_id_by_name_zip } = SHOP_TOOLS
    const byName = (zip: string, shop = SHOP) =>
      find_user_id_by_name_zip.run(shop, { first_name: 'ADA', last_name: 'abel', zip })
    expect(find_user_id_by_email.run(SHOP, { email: 'ADA.abel1@example.com' })).toBe('ada_abel_1')
    expect(byName('97301')).toBe('ada_abel_1')
    const { rows } = play(['modify_user_address', { user_id: 'ada_abel_1', ...OTHER, zip: '1' }])
    expect(byName('1', { ...SHOP, ...rows })).toBe('ada_abel_1')
    for (const find of [
      () => byName('97301', { ...SHOP, ...rows }),
      () => find_user_id_by_email.run(SHOP, { email: 'constructor' }),
      () => SHOP_TOOLS.get_order_details.run(SHOP, { order_id: 'toString' }),
      () => SHOP_TOOLS.get_item_details.run(SHOP, { item_id: 'lamp' }),
    ])
      expect(find).toThrow(Refusal)
  })

  it('refund each entry of the payments of a cancelled order, and a gift card at once', () => {
    const { refused, order, balance } = play(cancel('#1'), cancel('#1'), cancel('#3'), cancel('#1', 'because'))
    expect(refused).toEqual([1, 2, 3])
    expect(order('#1')).toMatchObject({ status: 'cancelled', cancel_reason: 'no longer needed' })
    expect(order('#1').payment_history.map(({ transaction_type }) => transaction_type)).toEqual(['payment', 'refund'])
    expect(balance).toBe(40.3)
    const paid = play(['modify_pending_order_payment', { order_id: '#1', payment_method_id: 'paypal_1' }], cancel('#1'))
    expect(paid.order('#1').payment_history).toHaveLength(6)
    // 20.2, and the refund of the change, and then that of each entry with the gift card.
    expect(paid.balance).toBe(80.5)
  })

  it('give all changed items of an order price and options of the last new one, and keep the difference unrounded', () => {
    const { refused, order } = play(modify(['a', 'a'], ['b', 'c']), modify(['b'], ['a']), cancel('#1'))
    expect(refused).toEqual([1, 2])
    expect(order('#1').items).toMatchObject([
      { item_id: 'b', price: 30.35, options: { color: 'green' } },
      { item_id: 'c', price: 30.35, options: { color: 'green' } },
    ])
    const amount = 12.1 - 10.05 + (30.35 - 10.05)
    expect(order('#1').payment_history[1]).toEqual({
      transaction_type: 'payment',
      amount,
      payment_method_id: 'paypal_1',
    })
    expect(order('#1').status).toBe('pending (item modified)')
  })

  it('let the address and the payment of an order be changed after its items, as long as it has one payment', () => {
    const address = { address1: '2 Mill Lane', address2: '', city: 'Salem', country: 'USA', state: 'OR', zip: '97301' }
    const { refused, order } = play(
      modify([], []),
      ['modify_pending_order_address', { order_id: '#1', ...address }],
      ['modify_pending_order_payment', { order_id: '#1', payment_method_id: 'paypal_1' }],
      ['modify_pending_order_address', { order_id: '#3', ...address }],
    )
    expect(refused).toEqual([2, 3])
    expect(order('#1')).toMatchObject({ address, status: 'pending (item modified)' })
    expect(order('#1').payment_history[1]).toMatchObject({ transaction_type: 'refund', amount: 0 })
  })

  it('exchange only what was bought for what is available, of the same product', () => {
    const { refused } = play(
      exchange(['a', 'a'], ['b', 'b']),
      exchange(['a'], ['gone']),
      exchange(['a'], ['nothing']),
      exchange(['a'], []),
      exchange(['a'], ['c'], 'gift_card_1'),
      exchange(['a'], ['c'], 'gift_card_2'),
    )
    expect(refused).toEqual([0, 1, 2, 3, 4, 5])
    const exchanged = play(exchange(['b', 'a'], ['c', 'a']))
    expect(exchanged.order('#2')).toMatchObject({
      status: 'exchange requested',
      exchange_items: ['a', 'b'],
      exchange_new_items: ['a', 'c'],
      exchange_price_difference: 18.25,
    })
  })

  it('refund a return to the payment method of the order or to a gift card', () => {
    const giveBack = (order_id: string, item_ids: string[], payment_method_id: string) =>
      ['return_delivered_order_items', { order_id, item_ids, payment_method_id }] as const
    expect(play(giveBack('#2', ['b', 'a'], 'gift_card_1')).order('#2').return_items).toEqual(['a', 'b'])
    expect(play(giveBack('#2', ['a'], 'paypal_1'), giveBack('#2', ['a'], 'paypal_1')).refused).toEqual([1])
    expect(play(giveBack('#1', ['a'], 'paypal_1'), giveBack('#2', ['c'], 'paypal_1')).refused).toEqual([0, 1])
  })
})
