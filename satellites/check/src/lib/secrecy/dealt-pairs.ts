import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { createRng, type Json, type JsonObject, type Rng } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import type { Setting } from '../check-context.ts'
import {
  type Deal,
  hasLargePart,
  hiddenFrom,
  keepsHidden,
  type Replacement,
  readableBy,
  readIn,
  seatsOfDeal,
  seenBy,
  toText,
  withReplaced,
} from '../deal.ts'
import { leafDifferences } from '../leaf-differences.ts'
import { valueAt } from '../walk-json.ts'
import type { ReadPlaces } from './read-places.ts'
import { referencesIn } from './references.ts'

export interface DealtPair {
  readonly first: Deal
  readonly second: Deal
  /** The origin of the second, in words: another seed, or one value of another seed. */
  readonly from: string
  /** Whether the second is known to be possible, because a seed deals it. */
  readonly fits: boolean
  /** Returns a pair that differs in less, once it is known what the play of the first reads. Default: this pair. */
  readonly narrowed?: (read: ReadPlaces) => DealtPair
}

/** Deals of each setting that form pairs. */
const PAIRED = 96
/** Most steps of a pair, unless it is played on. */
export const STEPS = 64

export interface PlannedPair extends DealtPair {
  readonly setting: Setting
  readonly seat: string
  /** Whether the sealed moves of other seats may differ too. */
  readonly sealed: boolean
}

export interface SeatDeals {
  readonly seat: string
  readonly deals: readonly {
    readonly deal: Deal
    readonly seen: string
    readonly hidden: string
    /** Whether the schemas accept the hidden parts and keep all of them, so that they can replace others. */
    readonly movable: boolean
  }[]
}

/**
 * Returns what draws pairs to be played, and the number of seats that these are for; `null` if nothing that varies is
 * hidden from any seat.
 */
export function planPairs(
  environment: EnvironmentDefinition,
  settings: readonly Setting[],
  allDeals: readonly (readonly Deal[])[],
  seed: string,
) {
  const hasSealed = Object.values(environment.tools).some((tool) => tool.sealed)
  const hidden = settings.flatMap((setting, i) => {
    const deals = (allDeals[i] as readonly Deal[]).slice(0, PAIRED)
    return seatsOfDeal(environment, deals[0] as Deal).flatMap((seat) => {
      const own = dealsFor(environment, seat, deals)
      const varies = drawDealtPair(environment, own, createRng(seed)) !== null
      return varies || hasSealed ? [{ setting, own, varies }] : []
    })
  })
  if (hidden.length === 0) return null
  return {
    seats: new Set(hidden.map(({ own }) => own.seat)).size,
    plan(rng: Rng): PlannedPair | null {
      const { setting, own, varies } = rng.pick(hidden)
      const { seat } = own
      const pair = varies && (!hasSealed || rng.chance()) ? drawDealtPair(environment, own, rng) : null
      if (pair) return { ...pair, setting, seat, sealed: hasSealed && rng.chance() }
      if (!hasSealed) return null
      const { deal } = rng.pick(own.deals)
      return { first: deal, second: deal, from: 'other sealed moves', fits: true, setting, seat, sealed: true }
    },
  }
}

function dealsFor(environment: EnvironmentDefinition, seat: string, deals: readonly Deal[]): SeatDeals {
  return {
    seat,
    deals: deals.map((deal) => ({
      deal,
      seen: toText([seenBy(deal.state, seat), ...readIn(environment, deal.state, seat)]),
      hidden: toText(hiddenFrom(environment, deal.state, seat)),
      movable: keepsHidden(environment, deal.state),
    })),
  }
}

/**
 * Draws a deal, and another one that shows the seat the same: of another seed if there is one, otherwise with the
 * hidden parts of another seed as far as the schemas accept them. `null` if nothing that is hidden from the seat
 * varies.
 */
function drawDealtPair(environment: EnvironmentDefinition, { seat, deals }: SeatDeals, rng: Rng): DealtPair | null {
  const own = rng.pick(deals)
  const others = deals.filter(({ hidden }) => hidden !== own.hidden)
  const same = others.filter(({ seen }) => seen === own.seen)
  const fits = same.length > 0
  const fitting = fits ? same : others.filter(({ movable }) => movable)
  if (fitting.length === 0) return null
  const first = own.deal
  const { deal: other } = rng.pick(fitting)
  const second = fits ? other : { seed: first.seed, state: withHidden(environment, first.state, seat, other.state) }
  const pair = { first, second, from: `what seed ${other.seed} hides`, fits }
  // A pair that differs in less has more to compare before it diverges.
  const share = hasLargePart(first.state) ? NARROWED : 0.5
  return (rng.chance(share) && swapSome(environment, seat, pair, rng)) || pair
}

/** The share of pairs of large states that differ in less: what is revealed of two databases soon differs. */
const NARROWED = 0.8

/** Most values that are swapped at once, and most differing ones of which any may be the one that is swapped. */
const SWAPPED = 400

function swapSome(environment: EnvironmentDefinition, seat: string, pair: DealtPair, rng: Rng): DealtPair | null {
  const [hidden, theirs] = [pair.first, pair.second].map(({ state }) => hiddenFrom(environment, state, seat)) as [
    JsonObject,
    JsonObject,
  ]
  const differences = [...leafDifferences(hidden, theirs, SWAPPED).values()]
  // Of so many, a play reads few.
  if (differences.length > SWAPPED)
    return { ...pair, narrowed: (read) => swapRead(environment, seat, pair, read, rng) ?? pair }
  const differing = differences.filter(({ from, to }) => from !== undefined && to !== undefined)
  if (differing.length === 0) return null
  const { path: leaf } = rng.pick(differing)
  // The value alone, or the row that it is in.
  const path = leaf.length > 3 && rng.chance(0.3) ? leaf.slice(0, -1) : leaf
  const value = valueAt(theirs, path)
  const swapped = value === undefined ? null : withSwapped(environment, pair, [{ path, value }])
  if (!swapped) return null
  const isWhole = toText(hiddenFrom(environment, swapped.state, seat)) === toText(theirs)
  return isWhole ? pair : { ...pair, second: swapped, from: `${path.join('.')} of ${pair.from}`, fits: false }
}

/**
 * Returns a pair of large states that differs in some of the values that the first play has read; `null` if the two
 * deals hide the same in all of these.
 */
function swapRead(
  environment: EnvironmentDefinition,
  seat: string,
  pair: DealtPair,
  read: ReadPlaces,
  rng: Rng,
): DealtPair | null {
  const [hidden, theirs] = [pair.first, pair.second].map(({ state }) => hiddenFrom(environment, state, seat))
  const stays = referencesIn(pair.first.state, read.keys)
  const differing = read.draw(environment, SWAPPED, rng).flatMap((path): Replacement[] => {
    const [mine, value] = [valueAt(hidden, path), valueAt(theirs, path)]
    return isLeaf(value) && isLeaf(mine) && mine !== value && !stays.has(mine) ? [{ path, value }] : []
  })
  const chosen = differing.filter(() => rng.chance())
  const swapped = withSwapped(environment, pair, chosen.length > 0 ? chosen : differing)
  return swapped && { ...pair, second: swapped, from: `some values of ${pair.from}`, fits: false }
}

function withSwapped(
  environment: EnvironmentDefinition,
  { first: { state, seed } }: DealtPair,
  values: readonly Replacement[],
): Deal | null {
  const swapped = withReplaced(environment, state, values)
  return swapped.replaced.size > 0 ? { seed, state: swapped.state } : null
}

function isLeaf(value: Json | undefined): value is null | boolean | number | string {
  return value !== undefined && (typeof value !== 'object' || value === null)
}

/** The seat holds and may read what it did. */
function withHidden(
  environment: EnvironmentDefinition,
  state: SessionState,
  seat: string,
  { own, private: secret }: SessionState,
): SessionState {
  const kept = readableBy(environment, seat).map((path) => ({
    path: ['private', ...path],
    value: valueAt(state.private, path) as Json,
  }))
  const moved = state.own
    ? { ...state, private: secret, own: { ...own, [seat]: state.own[seat] as JsonObject } }
    : { public: state.public, private: secret }
  return kept.length > 0 ? withReplaced(environment, moved, kept).state : moved
}
