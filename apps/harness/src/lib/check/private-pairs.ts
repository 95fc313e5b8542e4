import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { canonicalJson, type Json, type JsonObject, type Rng, seedFor } from '@episodic/protocol'
import { isKept } from './canaries.ts'
import { leavesOf, replaceAt } from './json-leaves.ts'
import type { Setting } from './subject.ts'

/** Two beginnings of a world that a player cannot tell apart. */
export interface PrivatePair {
  readonly seed: string
  /** The private state that this seed makes, and the one that is played instead of it. */
  readonly first: JsonObject
  readonly second: JsonObject
  /** Where the second comes from, in words: another seed, or one value of another. */
  readonly from: string
  /** Whether the second private state is known to fit the public one: another seed begins with the two of them. */
  readonly fits: boolean
}

/** A world's beginning under one seed. */
export interface Beginning {
  readonly seed: string
  readonly public: JsonObject
  readonly private: JsonObject
  /** Equal texts are equal states. */
  readonly publicText: string
  readonly privateText: string
  /** Whether the schema takes the private state as one that is put there. */
  readonly movable: boolean
}

/** The beginnings of a setting under many seeds. */
export function beginningsOf(
  environment: EnvironmentDefinition,
  { params }: Setting,
  seed: string,
  count: number,
): Beginning[] {
  return Array.from({ length: count }, (_, i) => {
    const own = seedFor(seed, 'beginning', i)
    const { state } = rehearse(environment, { params, seed: own }).start
    return {
      seed: own,
      public: state.public,
      private: state.private,
      publicText: canonicalJson(state.public),
      privateText: canonicalJson(state.private),
      movable: isKept(environment, state.private),
    }
  })
}

/**
 * Draws two beginnings that differ in what is private alone: the private state of one seed is swapped for another's,
 * wholly or in one value, where the schema takes it; that of a seed with the same public start, where there are such.
 * `null` where no two private states differ.
 */
export function drawPair(
  environment: EnvironmentDefinition,
  beginnings: readonly Beginning[],
  rng: Rng,
): PrivatePair | null {
  const own = rng.pick(beginnings)
  const others = beginnings.filter((other) => other.privateText !== own.privateText)
  const same = others.filter((other) => other.publicText === own.publicText)
  const fits = same.length > 0
  const fitting = fits ? same : others.filter(({ movable }) => movable)
  if (fitting.length === 0) return null
  const { seed, private: first } = own
  const other = rng.pick(fitting)
  const pair = { seed, first, second: other.private, from: `the private state of seed ${other.seed}`, fits }
  // Two that differ in one value have more to reveal until they part.
  return (rng.chance() && swapOne(environment, pair, rng)) || pair
}

function swapOne(environment: EnvironmentDefinition, pair: PrivatePair, rng: Rng): PrivatePair | null {
  const theirs = new Map(leavesOf(pair.second).map(({ path, value }) => [path.join('.'), value]))
  const differing = leavesOf(pair.first).filter(({ path, value }) => {
    const other = theirs.get(path.join('.'))
    return other !== undefined && other !== value
  })
  if (differing.length === 0) return null
  const { path } = rng.pick(differing)
  const place = path.join('.')
  const second = replaceAt(pair.first, path, theirs.get(place) as Json) as JsonObject
  if (!isKept(environment, second)) return null
  const fits = pair.fits && canonicalJson(second) === canonicalJson(pair.second)
  return { ...pair, second, from: `${place} of ${pair.from}`, fits }
}
