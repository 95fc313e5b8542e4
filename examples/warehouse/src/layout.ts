import type { Rng } from '@episodic/protocol'
import { type Bin, DOCK, distance, type Floor, type Order, type Place, type Units } from './floor.ts'
import { unitsWanted } from './orders.ts'
import { ARTICLES, MOST_ORDERED, type Params } from './params.ts'

/** The probability that an order is urgent. */
const URGENT = 1 / 3
/** Most units of an article in stock beyond those that are ordered. */
const MOST_SPARE = 3

/** Draws a warehouse that can fill its orders: the bins, the orders and the actual stock. */
export function drawLayout(params: Params, rng: Rng): { floor: Floor; stock: Units } {
  const bins = drawBins(params, rng.stream('bins'))
  const orders = drawOrders(params, rng.stream('orders'))
  const floor: Floor = {
    size: params.size,
    minute: 0,
    position: { ...DOCK },
    battery: params.battery,
    cart: {},
    orders,
    bins,
    surplus: {},
  }
  return { floor, stock: drawStock(bins, orders, rng.stream('stock')) }
}

/** At most one bin per tile; each article has at least one bin. */
function drawBins({ size, bins, articles }: Params, rng: Rng): Bin[] {
  const places: Place[] = Array.from({ length: size * size }, (_, i) => ({
    row: Math.floor(i / size),
    column: i % size,
  }))
  return rng
    .shuffle(places.filter((place) => distance(place, DOCK) > 0))
    .slice(0, bins)
    .map((place, i) => ({
      ...place,
      name: `bin-${i + 1}`,
      article: i < articles ? (ARTICLES[i] as string) : rng.pick(ARTICLES.slice(0, articles)),
      counted: null,
    }))
}

/** Urgent orders are due one after the other, each two round trips across the floor after the one before. */
function drawOrders({ orders, articles, size }: Params, rng: Rng): Order[] {
  let urgent = 0
  return Array.from({ length: orders }, (_, i) => {
    const article = rng.pick(ARTICLES.slice(0, articles))
    const quantity = rng.int(1, MOST_ORDERED)
    if (rng.chance(URGENT)) urgent += 1
    else return { name: `order-${i + 1}`, article, quantity, delivered: 0, due: null }
    return { name: `order-${i + 1}`, article, quantity, delivered: 0, due: urgent * 8 * size }
  })
}

/** Spreads the ordered units, and a few more, over the bins of their article. Some bins stay empty. */
function drawStock(bins: readonly Bin[], orders: readonly Order[], rng: Rng): Units {
  const stock: Units = Object.fromEntries(bins.map(({ name }) => [name, 0]))
  for (const article of new Set(bins.map((bin) => bin.article))) {
    const homes = bins.filter((bin) => bin.article === article)
    const units = unitsWanted(orders, article) + rng.int(0, MOST_SPARE)
    for (let i = 0; i < units; i++) {
      const { name } = rng.pick(homes)
      stock[name] = (stock[name] ?? 0) + 1
    }
  }
  return stock
}
