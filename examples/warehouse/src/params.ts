import { z } from 'zod'

/** The articles, in the order in which the warehouse stocks them. */
export const ARTICLES = ['bolt', 'cable', 'filter', 'gasket', 'lamp', 'motor', 'pump', 'valve'] as const

/** Most units of one order. */
export const MOST_ORDERED = 4

export const Params = z
  .object({
    /** Tiles along each side of the floor. */
    size: z.int().min(2).max(12).default(5),
    articles: z.int().min(1).max(ARTICLES.length).default(4),
    bins: z.int().min(1).max(40).default(7),
    orders: z.int().min(1).max(20).default(3),
    /** Capacity of the cart in units. */
    capacity: z.int().min(1).max(50).default(6),
    /** Capacity of the battery: moves, looks and picks per charge. */
    battery: z.int().min(1).max(500).default(40),
  })
  .refine(({ bins, articles }) => bins >= articles, { path: ['bins'], error: 'every article needs a bin' })
  .refine(({ bins, size }) => bins < size * size, {
    path: ['bins'],
    error: 'the floor has one tile for each bin, and one for the dock',
  })
  .refine(({ battery, size }) => battery >= roundTrip(size), {
    path: ['battery'],
    error: 'a charge has to last to the farthest bin and back',
  })
export type Params = z.infer<typeof Params>

/** The charge to fetch something from the farthest tile: there, a look, a pick, and back. */
export function roundTrip(size: number): number {
  return 4 * (size - 1) + 2
}
