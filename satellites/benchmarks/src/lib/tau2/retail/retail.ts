import { printChanges, rowsOver } from '../rows.ts'
import { printJson, toolsOf } from '../rule.ts'
import type { CreateDomain } from '../tau2-world.ts'
import { createShop, type ShopRows, shopRowsSchema } from './shop.ts'
import { SHOP_RULES } from './shop-rules.ts'

/** Returns the rules of the shop, whose state is the rows that a session has changed. */
export const createRetail: CreateDomain<ShopRows> = (read) => {
  const json = read('db.json')
  const shop = createShop(JSON.parse(json))
  const order = variantOrder(json)
  const print = (value: object) => {
    if (!('variants' in value)) return printJson(value, isFloat)
    const { product_id, variants } = value as (typeof shop.products)[string]
    const entries = (order[product_id] ?? []).map((id) => [id, variants[id]] as const)
    return printJson({ ...value, variants: new Map(entries) }, isFloat)
  }
  return {
    description: 'The retail domain of τ²-bench: an agent changes, returns and exchanges the orders of a user.',
    policy: read('policy.md'),
    state: shopRowsSchema,
    tools: toolsOf('agent', SHOP_RULES, (changed) => ({ ...shop, ...rowsOver(shop, changed) }), print),
    readable: { agent: ['users', 'orders'] },
    start: () => ({ users: {}, orders: {} }),
    databases: (changed) => printChanges(shop, changed, print),
  }
}

/** The ids of the variants of each product as the file orders them: an object moves keys that are whole numbers. */
function variantOrder(json: string): Readonly<Record<string, readonly string[]>> {
  const { products } = JSON.parse(json.replace(/(?<!\\)"(\d+)"(?=\s*:)/g, '"#$1"'))
  const ids = Object.values<{ product_id: string; variants: object }>(products)
  return Object.fromEntries(
    ids.map(({ product_id, variants }) => [product_id, Object.keys(variants).map((id) => id.slice(1))]),
  )
}

/** Every number of the shop is a float but one: the sum of no differences, which is an int. */
function isFloat(owner: object, field: string): boolean {
  const { exchange_items: items } = owner as { readonly exchange_items?: readonly string[] }
  return field !== 'exchange_price_difference' || items?.length !== 0
}
