import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { canonicalJson, type Json, type JsonObject, type Rng, seedFor } from '@episodic/protocol'
import type { Setting } from './check-context.ts'
import { leavesOf, replaceAt } from './walk-json.ts'

/** Two initial states that differ only in the private state. */
export interface PrivatePair {
  readonly seed: string
  /** The private state of this seed, and the one that replaces it. */
  readonly first: JsonObject
  readonly second: JsonObject
  /** The origin of the second, in words: another seed, or one value of another seed. */
  readonly from: string
  /** Whether the second private state is known to be consistent with the public one, because another seed has both. */
  readonly fits: boolean
}

/** The initial state of one seed. */
export interface SeededStart {
  readonly seed: string
  readonly public: JsonObject
  readonly private: JsonObject
  /** Canonical JSON: equal texts are equal states. */
  readonly publicText: string
  readonly privateText: string
  /** Whether the schema accepts the private state and keeps all of it, so that it can replace another. */
  readonly movable: boolean
}

/** The initial states of a setting for many seeds. */
export function seededStarts(
  environment: EnvironmentDefinition,
  { params }: Setting,
  seed: string,
  count: number,
): SeededStart[] {
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
 * Draws an initial state and replaces its private state, or one value in it, with that of another seed, as far as the
 * schema accepts it. Seeds with the same public state are preferred. `null` if no two private states differ.
 */
export function drawPair(
  environment: EnvironmentDefinition,
  starts: readonly SeededStart[],
  rng: Rng,
): PrivatePair | null {
  const own = rng.pick(starts)
  const others = starts.filter((other) => other.privateText !== own.privateText)
  const same = others.filter((other) => other.publicText === own.publicText)
  const fits = same.length > 0
  const fitting = fits ? same : others.filter(({ movable }) => movable)
  if (fitting.length === 0) return null
  const { seed, private: first } = own
  const other = rng.pick(fitting)
  const pair = { seed, first, second: other.private, from: `the private state of seed ${other.seed}`, fits }
  // A pair that differs in one value has more to compare before it diverges.
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

/** Whether the schema accepts a private state and keeps all of it. */
export function isKept(environment: EnvironmentDefinition, state: JsonObject): boolean {
  const parsed = environment.state.private.safeParse(state)
  return parsed.success && JSON.stringify(parsed.data) === JSON.stringify(state)
}
