import { z } from 'zod'

/** What the warehouse can hold, in the order in which it is stocked. */
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
    /** Units that the cart can carry. */
    capacity: z.int().min(1).max(50).default(6),
    /** What a charge lasts for: moves, looks and picks. */
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

/** What it takes to fetch something from the farthest tile: there, a look, a pick, and back. */
export function roundTrip(size: number): number {
  return 4 * (size - 1) + 2
}
