import { addUnits, type Floor, type Order, type Units } from './floor.ts'

export function isComplete({ delivered, quantity }: Order): boolean {
  return delivered === quantity
}

/** Units of an article that orders still want, including those in the cart. */
export function unitsWanted(orders: readonly Order[], article: string): number {
  return orders
    .filter((order) => order.article === article)
    .reduce((sum, { quantity, delivered }) => sum + quantity - delivered, 0)
}

/** Delivers the whole cart: urgent orders first, by due time, then the others. The rest is surplus. */
export function handIn(floor: Floor): void {
  const byUrgency = floor.orders.toSorted((a, b) => (a.due ?? Number.MAX_VALUE) - (b.due ?? Number.MAX_VALUE))
  for (const [article, count] of Object.entries(floor.cart)) {
    let left = count
    for (const order of byUrgency) {
      if (order.article !== article) continue
      const given = Math.min(left, order.quantity - order.delivered)
      order.delivered += given
      left -= given
    }
    if (left > 0) addUnits(floor.surplus, article, left)
  }
  floor.cart = {}
}

export function unitsOrdered(orders: readonly Order[]): number {
  return orders.reduce((sum, { quantity }) => sum + quantity, 0)
}

export function unitsDelivered(orders: readonly Order[]): number {
  return orders.reduce((sum, { delivered }) => sum + delivered, 0)
}

/** Units in the cart that some order wants. */
export function unitsUnderWay(orders: readonly Order[], cart: Units): number {
  return Object.entries(cart).reduce((sum, [article, count]) => sum + Math.min(count, unitsWanted(orders, article)), 0)
}
