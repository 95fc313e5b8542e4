import { type EnvironmentDefinition, type Rehearsal, rehearse } from '@episodic/mcp-server'
import type { Action } from '@episodic/protocol'
import fc from 'fast-check'
import type { Floor, Units } from './floor.ts'
import { environment } from './index.ts'
import { type ARTICLES, Params, roundTrip } from './params.ts'

/** Valid parameters, from the smallest warehouse up. */
export const anyParams: fc.Arbitrary<Params> = fc
  .record({ size: fc.integer({ min: 2, max: 7 }), articles: fc.integer({ min: 1, max: 3 }) })
  .chain(({ size, articles }) =>
    fc.record({
      size: fc.constant(size),
      articles: fc.constant(articles),
      bins: fc.integer({ min: articles, max: size * size - 1 }),
      orders: fc.integer({ min: 1, max: 6 }),
      capacity: fc.integer({ min: 1, max: 12 }),
      battery: fc.integer({ min: roundTrip(size), max: 3 * roundTrip(size) }),
    }),
  )
  .filter((params) => Params.safeParse(params).success)

/** Any call of any tool; the arguments are mostly right. */
export const anyAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: call('move', { direction: fc.constantFrom('up', 'down', 'left', 'right', 'north') }) },
  { weight: 3, arbitrary: call('pick', { quantity: fc.integer({ min: 0, max: 9 }) }) },
  { weight: 1, arbitrary: call('look', {}) },
  { weight: 2, arbitrary: call('deliver', {}) },
  { weight: 1, arbitrary: call('recharge', {}) },
)

function call(tool: string, args: Record<string, fc.Arbitrary<string | number>>): fc.Arbitrary<Action> {
  return fc.record(args).map((drawn) => ({ tool, arguments: { ...drawn } }))
}

export function start(params: Params, seed: string): Rehearsal {
  return rehearse<EnvironmentDefinition>(environment, { params, seed })
}

export function floorOf(world: Pick<Rehearsal, 'state'>): Floor {
  return world.state.public as unknown as Floor
}

/** The actual stock of the bins. */
export function stockOf(world: Pick<Rehearsal, 'state'>): Units {
  return (world.state.private as { readonly stock: Units }).stock
}

/** All units of an article, in bins, in the cart and delivered. */
export function unitsAnywhere(world: Pick<Rehearsal, 'state'>, article: (typeof ARTICLES)[number]): number {
  const { bins, cart, orders, surplus } = floorOf(world)
  const stock = stockOf(world)
  const inBins = bins.filter((bin) => bin.article === article).map(({ name }) => stock[name] ?? 0)
  const delivered = orders.filter((order) => order.article === article).map((order) => order.delivered)
  return [...inBins, ...delivered, cart[article] ?? 0, surplus[article] ?? 0].reduce((sum, units) => sum + units, 0)
}
