import type { Classic } from './classic.ts'
import type { Reference } from './reference.ts'
import { gameTree } from './solve/game-tree.ts'
import { valueIteration } from './solve/value-iteration.ts'
import { tableOf } from './tabled-world.ts'

export interface Measured {
  readonly value: Reference['value']
  /** Whether it is within the tolerance of the reference. */
  readonly holds: boolean
}

/**
 * Returns the function that a world's entry exports: it measures a reference on the world's own rules, as they are
 * served. It returns `null` for one that is a mean of played episodes: play them, and compare the mean's confidence
 * interval with it.
 */
export function measureOf(world: Classic): (reference: Reference) => Measured | null {
  return (reference) => {
    const value = measure(world, reference)
    return value === null ? null : { value, holds: isWithin(reference, value) }
  }
}

function measure(world: Classic, { params, how }: Reference): Reference['value'] | null {
  if (how.kind === 'played') return null
  if (how.kind === 'table') return tableOf(world, params).sha256
  if (how.kind === 'expected-return') return valueIteration(tableOf(world, params), how).start
  const { environment, equilibrium } = world
  const tree = gameTree(environment, params)
  if (how.kind === 'ends') return tree.ends
  if (how.kind === 'information-sets')
    return environment.seats.map((seat) => tree.decisions.filter((decision) => decision.seat === seat).length)
  const profile = how.profile === 'uniform' ? tree.uniform : equilibrium
  if (!profile) throw new RangeError(`${environment.name} has no equilibrium of its own.`)
  return how.kind === 'nash-conv' ? tree.nashConv(profile) : (Object.values(tree.value(profile))[0] as number)
}

function isWithin({ value, tolerance }: Reference, measured: Reference['value']): boolean {
  const [wanted, got] = [[value].flat(), [measured].flat()]
  const isClose = (one: unknown, other: unknown) =>
    one === other || (typeof tolerance === 'number' && Math.abs(Number(one) - Number(other)) <= tolerance)
  return wanted.length === got.length && wanted.every((one, at) => isClose(one, got[at]))
}
