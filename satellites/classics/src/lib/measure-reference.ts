import { rehearse } from '@episodic/mcp-server'
import type { Json, JsonObject } from '@episodic/protocol'
import { type Classic, type Strategy, strategyOf } from './classic.ts'
import type { ClassicGame } from './classic-game.ts'
import { measureGame } from './game-measure.ts'
import { type GameReference, isOfGame } from './game-reference.ts'
import type { Measure, Reference } from './reference.ts'
import { beliefValue } from './solve/belief-value.ts'
import { valueIteration } from './solve/value-iteration.ts'
import { tableOf } from './table-of.ts'

/** A reference as it is measured here. */
export interface Measured {
  readonly value: Reference['value']
  /** Whether it is within the tolerance of the reference. */
  readonly holds: boolean
}

/**
 * Measures a reference on the world's own rules, as they are served. Returns `null` for one that is a mean of played
 * episodes: play them, and compare the mean's confidence interval with it. Throws a `RangeError` for a strategy that
 * the world has not.
 */
export function measureReference(world: Classic, reference: Reference): Measured | null
/** Measures a reference of a game of several seats in the same way. */
export function measureReference(game: ClassicGame, reference: GameReference): Measured
export function measureReference(world: Classic | ClassicGame, reference: Reference | GameReference): Measured | null {
  const value = isOfGame(reference)
    ? measureGame(world as ClassicGame, reference)
    : measure(world as Classic, reference)
  return value === null ? null : { value, holds: isWithin(reference, value) }
}

/** Returns {@link measureReference} of one world, which its entry exports. */
export function measureOf(world: Classic): (reference: Reference) => Measured | null
export function measureOf(game: ClassicGame): (reference: GameReference) => Measured
export function measureOf(world: Classic | ClassicGame): (reference: never) => Measured | null {
  return (reference) => measureReference(world as Classic, reference)
}

function measure(world: Classic, { params, how }: Reference): Reference['value'] | null {
  switch (how.kind) {
    case 'table':
      return tableOf(world, params).sha256
    case 'expected-return':
      return expectedReturn(world, params, how)
    case 'trajectory':
      return playTrajectory(world, params, strategyOf(world, how.strategy))
    case 'played':
      return null
  }
}

function expectedReturn(
  world: Classic,
  params: Reference['params'],
  { policy: named, steps, discount = 1 }: Measure & { kind: 'expected-return' },
): number {
  const strategy = typeof named === 'string' ? named : strategyOf(world, named.strategy)
  // An expected return is of strategies that do not count steps.
  const policy = typeof strategy === 'string' ? strategy : (state: JsonObject) => strategy(state, 0)
  if (world.hasSecrets) return beliefValue(world.environment, { params, policy })
  return valueIteration(tableOf(world, params), { policy, steps: steps ?? Number.POSITIVE_INFINITY, discount }).start
}

function playTrajectory({ environment }: Classic, params: Reference['params'], strategy: Strategy): number[] {
  const world = rehearse(environment, { params })
  const { steps: most = Number.POSITIVE_INFINITY } = environment.limitsFor(environment.params.parse(params))
  let steps = 0
  while (!world.end && steps < most) {
    const { tool, arguments: args } = strategy(world.state.public, steps)
    world.play(tool, args)
    steps += 1
  }
  return [steps, ...numbersIn(world.state.public)]
}

/** The numbers of a state, in the order of its keys. */
function numbersIn(value: Json): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

function isWithin({ value, tolerance, how }: Reference | GameReference, measured: Reference['value']): boolean {
  const close = (wanted: unknown, got: unknown) =>
    wanted === got ||
    (typeof tolerance === 'number' &&
      typeof wanted === 'number' &&
      typeof got === 'number' &&
      Math.abs(wanted - got) <= tolerance)
  if (typeof value !== 'object' || typeof measured !== 'object') return close(value, measured)
  // The first number of a trajectory counts its steps.
  if (how.kind === 'trajectory' && value[0] !== measured[0]) return false
  return value.length === measured.length && value.every((one, at) => close(one, measured[at]))
}
