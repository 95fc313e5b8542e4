import { fileURLToPath } from 'node:url'
import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { playGolden } from '../../suite/golden.ts'
import { openTau2 } from '../tau2-world.ts'
import { createRetail } from './retail.ts'

// Tasks of our own making in the original's format. What is expected of them was recorded by the original.
const sample = new URL('../../../../sample/tau2/', import.meta.url)
const world = openTau2('retail', createRetail, fileURLToPath(sample), new URL('golden-retail.jsonl', sample))
const cases = [...world.golden()]

function begin(task: string) {
  const played = rehearse<EnvironmentDefinition>(world.environment, { params: { task }, seed: '1', strict: true })
  played.play('say', { text: 'Hello.' }, { seat: 'user' })
  return (tool: string, given: JsonObject) => played.play(tool, given, { seat: 'agent' }).observation.text
}

describe('openTau2 of the shop', () => {
  it.each(cases)('plays the golden actions of $task as the original does', async (one) => {
    expect(one.expected).not.toBeNull()
    expect(await playGolden(world, one)).toMatchObject({ differs: [], failure: null, solved: true })
  })

  it('prints numbers and the order of variants as Python does', () => {
    const ask = begin('read')
    expect(ask('get_item_details', { item_id: '9000000021' })).toBe(
      '{"item_id": "9000000021", "options": {"color": "white"}, "available": true, "price": 7.0}',
    )
    const product = ask('get_product_details', { product_id: '9000000002' })
    expect(product.match(/"\d+": \{/g)).toEqual([
      '"9000000012": {',
      '"1000000011": {',
      '"1000000013": {',
      '"1000000014": {',
      '"1000000015": {',
    ])
  })

  it('keeps a negative zero, and the int that is the sum of no differences', () => {
    const ask = begin('exchange')
    const exchange = (order_id: string, item_ids: string[], new_item_ids: string[], payment_method_id: string) =>
      ask('exchange_delivered_order_items', { order_id, item_ids, new_item_ids, payment_method_id })
    const [blue, green, gold] = ['1000000011', '1000000013', '1000000015'] as const
    expect(exchange('#W5', [blue, green, gold], [green, gold, blue], 'paypal_1')).toContain(
      '"exchange_price_difference": -0.0,',
    )
    expect(exchange('#W4', [], [], 'gift_card_2')).toContain('"exchange_price_difference": 0,')
    expect(ask('get_order_details', { order_id: '#W5' })).toContain('"exchange_price_difference": -0.0,')
  })

  it('gives all changed items the price and the options of the last one', () => {
    const [first] = cases.find(({ task }) => task === 'modify')?.calls.filter(({ tool }) => tool !== 'say') ?? []
    const order = JSON.parse(begin('modify')('modify_pending_order_items', first?.arguments ?? {}))
    expect(order.items.slice(0, 2)).toMatchObject([
      { name: 'Tea Pot', item_id: '1000000013', price: 6.8, options: { color: 'grey' } },
      { name: 'Cup', item_id: '1000000022', price: 6.8, options: { color: 'grey' } },
    ])
  })
})
