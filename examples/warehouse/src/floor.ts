import { z } from 'zod'

/** A tile of the floor. The dock is at row 0, column 0. */
const Place = z.object({ row: z.int().min(0), column: z.int().min(0) })
export type Place = z.infer<typeof Place>

/** Units by article. */
const Units = z.record(z.string(), z.int().min(0))
export type Units = z.infer<typeof Units>

const Bin = Place.extend({
  name: z.string(),
  article: z.string(),
  /** How many units are in it, as far as anybody looked; `null` where nobody did. */
  counted: z.int().min(0).nullable(),
})
export type Bin = z.infer<typeof Bin>

const Order = z.object({
  name: z.string(),
  article: z.string(),
  quantity: z.int().min(1),
  delivered: z.int().min(0),
  /** The last minute at which an urgent order is in time; `null` for one that can wait. */
  due: z.int().nullable(),
})
export type Order = z.infer<typeof Order>

/** What everybody can see of the warehouse. */
export const Floor = z.object({
  /** Tiles along each side. */
  size: z.int(),
  /** Minutes since the start: one for every action that was not refused. */
  minute: z.int().min(0),
  position: Place,
  battery: z.int().min(0),
  cart: Units,
  orders: z.array(Order),
  bins: z.array(Bin),
  /** Units that were brought to the dock and that no order wanted. */
  surplus: Units,
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

/** The bin where the cart stands. */
export function binHere({ bins, position }: Floor): Bin | undefined {
  return bins.find((bin) => distance(bin, position) === 0)
}

/** All units, whatever they are of. */
export function countUnits(units: Units): number {
  return Object.values(units).reduce((sum, count) => sum + count, 0)
}

/** Adds units of an article; a negative `count` takes them. An article without units is not listed. */
export function addUnits(units: Units, article: string, count: number): void {
  const left = (units[article] ?? 0) + count
  if (left === 0) delete units[article]
  else units[article] = left
}
