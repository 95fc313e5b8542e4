import { type Bin, type Floor, isAtDock, type Order, type Place, type Units } from './floor.ts'
import { isComplete } from './orders.ts'
import type { Params } from './params.ts'

/** Describes the public state to a player. */
export function formatFloor(floor: Floor, { capacity, battery }: Params): string {
  const { minute, position, orders, bins, cart, size } = floor
  return [
    `Minute ${minute}. You are at ${place(position)}${isAtDock(floor) ? ' (the dock)' : ''} of a floor of ${size} × ${size}. ` +
      `Battery ${floor.battery} of ${battery}. Cart (at most ${capacity}): ${list(cart)}.`,
    `Open orders: ${orders
      .filter((order) => !isComplete(order))
      .map(formatOrder)
      .join('; ')}.`,
    `Bins: ${bins.map(formatBin).join('; ')}.`,
  ].join('\n')
}

export function place({ row, column }: Place): string {
  return `row ${row}, column ${column}`
}

export function list(units: Units): string {
  return (
    Object.entries(units)
      .map(([article, count]) => `${count} ${article}`)
      .join(', ') || 'empty'
  )
}

function formatOrder({ name, article, quantity, delivered, due }: Order): string {
  return `${name} wants ${quantity - delivered} ${article}${due === null ? '' : `, urgent, due at minute ${due}`}`
}

function formatBin(bin: Bin): string {
  return `${bin.name} with ${bin.article} at ${place(bin)} (${bin.counted === null ? 'not counted' : `${bin.counted} left`})`
}
