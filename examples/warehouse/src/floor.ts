import { z } from 'zod'

/** A tile of the floor. The dock is at row 0, column 0. */
const Place = z.object({
  row: z.int().min(0).describe('Counted from 0 at the top.'),
  column: z.int().min(0).describe('Counted from 0 at the left.'),
})
export type Place = z.infer<typeof Place>

/** Units by article. */
const Units = z.record(z.string(), z.int().min(0).describe('Units of the article.'))
export type Units = z.infer<typeof Units>

const Bin = Place.extend({
  name: z.string().describe('The name of the bin.'),
  article: z.string().describe('The article that it holds.'),
  counted: z.int().min(0).nullable().describe('Units in it, where they have been counted; null where they have not.'),
})
export type Bin = z.infer<typeof Bin>

const Order = z.object({
  name: z.string().describe('The name of the order.'),
  article: z.string().describe('The article that is ordered.'),
  quantity: z.int().min(1).describe('Units that are ordered.'),
  delivered: z.int().min(0).describe('Units of these that have been delivered.'),
  due: z.int().nullable().describe('The last minute at which an urgent order is in time; null for one that can wait.'),
})
export type Order = z.infer<typeof Order>

/** The public state of the warehouse. */
export const Floor = z.object({
  size: z.int().describe('Tiles along each side of the floor.'),
  minute: z.int().min(0).describe('Minutes since the start: one for every action that was not refused.'),
  position: Place.describe('Where the cart is. The dock is at row 0, column 0.'),
  battery: z.int().min(0).describe('What is left of the charge: a move, a look or a pick takes 1.'),
  cart: Units.describe('What is in the cart: units by article.'),
  orders: z.array(Order.describe('One order.')).describe('All orders, complete ones too.'),
  bins: z.array(Bin.describe('One bin.')).describe('All bins.'),
  surplus: Units.describe('Units that were brought to the dock and that no order wanted, by article.'),
})
export type Floor = z.infer<typeof Floor>

export const DOCK: Place = { row: 0, column: 0 }

/** Moves from one place to another: there are no walls. */
export function distance(from: Place, to: Place): number {
  return Math.abs(from.row - to.row) + Math.abs(from.column - to.column)
}

export function isAtDock({ position }: Floor): boolean {
  return distance(position, DOCK) === 0
}

/** The bin at the position of the cart, if any. */
export function binHere({ bins, position }: Floor): Bin | undefined {
  return bins.find((bin) => distance(bin, position) === 0)
}

/** The number of units of all articles. */
export function countUnits(units: Units): number {
  return Object.values(units).reduce((sum, count) => sum + count, 0)
}

/** Adds units of an article; a negative `count` removes them. An article without units is not listed. */
export function addUnits(units: Units, article: string, count: number): void {
  const left = (units[article] ?? 0) + count
  if (left === 0) delete units[article]
  else units[article] = left
}
