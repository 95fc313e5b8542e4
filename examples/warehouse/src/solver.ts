import { definePolicy } from '@episodic/env'
import type { Action } from '@episodic/protocol'
import { LOOK_REACH } from './environment.ts'
import { type Bin, countUnits, DOCK, distance, type Floor, isAtDock, type Order, type Place } from './floor.ts'
import { isComplete, unitsWanted } from './orders.ts'
import type { Params } from './params.ts'

/**
 * Fetches from the nearest bin that may contain a wanted article, urgent orders first, and always keeps enough charge
 * to return. Always delivers everything; planning whole tours would need fewer moves.
 */
export const solver = definePolicy({
  name: 'nearest-bin',
  start({ task }) {
    const params = task.params as Params
    return ({ structured }) => chooseAction(structured as Floor, params)
  },
})

function chooseAction(floor: Floor, { capacity }: Params): Action {
  const carried = countUnits(floor.cart)
  if (isAtDock(floor) && carried > 0) return { tool: 'deliver', arguments: {} }

  const orders = ordersToFetch(floor)
  const bin = carried < capacity ? nearestBin(floor, orders) : undefined
  if (!bin) return moveTowards(floor, DOCK)

  const away = distance(floor.position, bin)
  // A look, a pick, and the way back.
  const needed = away + 2 + distance(bin, DOCK)
  if (floor.battery < needed) return isAtDock(floor) ? { tool: 'recharge', arguments: {} } : moveTowards(floor, DOCK)
  if (away === 0) {
    const quantity = Math.min(unitsToFetch(floor, orders, bin.article), capacity - carried)
    return { tool: 'pick', arguments: { quantity } }
  }
  if (bin.counted === null && away <= LOOK_REACH) return { tool: 'look', arguments: {} }
  return moveTowards(floor, bin)
}

/** The urgent orders that can still be in time; all open ones if there are none. */
function ordersToFetch({ orders, minute }: Floor): readonly Order[] {
  const open = orders.filter((order) => !isComplete(order))
  const urgent = open.filter(({ due }) => due !== null && minute <= due)
  return urgent.length > 0 ? urgent : open
}

function unitsToFetch({ cart }: Floor, orders: readonly Order[], article: string): number {
  return unitsWanted(orders, article) - (cart[article] ?? 0)
}

function nearestBin(floor: Floor, orders: readonly Order[]): Bin | undefined {
  return floor.bins
    .filter(({ article, counted }) => counted !== 0 && unitsToFetch(floor, orders, article) > 0)
    .toSorted((a, b) => distance(floor.position, a) - distance(floor.position, b))[0]
}

function moveTowards({ position }: Floor, goal: Place): Action {
  const vertical = goal.row < position.row ? 'up' : 'down'
  const horizontal = goal.column < position.column ? 'left' : 'right'
  return { tool: 'move', arguments: { direction: goal.row === position.row ? horizontal : vertical } }
}
