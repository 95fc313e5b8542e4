import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { canonicalJson, type Json, type JsonObject, type Rng } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { type Deal, hiddenFrom, keepsOwn, keepsPrivate, seenBy } from '../deal.ts'
import { leavesOf, replaceAt } from '../walk-json.ts'

/** Two deals between which a seat cannot tell. */
export interface DealtPair {
  readonly first: Deal
  readonly second: Deal
  /** The origin of the second, in words: another seed, or one value of another seed. */
  readonly from: string
  /** Whether the second is known to be possible, because a seed deals it. */
  readonly fits: boolean
}

/** The deals of many seeds, as one seat can and cannot see them. */
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

export function dealsFor(environment: EnvironmentDefinition, seat: string, deals: readonly Deal[]): SeatDeals {
  return {
    seat,
    deals: deals.map((deal) => ({
      deal,
      seen: seenBy(deal.state, seat),
      hidden: canonicalJson(hiddenFrom(deal.state, seat)),
      movable: isKept(environment, deal.state),
    })),
  }
}

/**
 * Draws a deal, and another one that shows the seat the same: of another seed if there is one, otherwise with the
 * hidden parts of another seed as far as the schemas accept them. `null` if nothing that is hidden from the seat
 * varies.
 */
export function drawDealtPair(
  environment: EnvironmentDefinition,
  { seat, deals }: SeatDeals,
  rng: Rng,
): DealtPair | null {
  const own = rng.pick(deals)
  const others = deals.filter(({ hidden }) => hidden !== own.hidden)
  const same = others.filter(({ seen }) => seen === own.seen)
  const fits = same.length > 0
  const fitting = fits ? same : others.filter(({ movable }) => movable)
  if (fitting.length === 0) return null
  const first = own.deal
  const { deal: other } = rng.pick(fitting)
  const second = fits ? other : { seed: first.seed, state: withHidden(first.state, seat, other.state) }
  const pair = { first, second, from: `what seed ${other.seed} hides`, fits }
  // A pair that differs in one value has more to compare before it diverges.
  return (rng.chance() && swapOne(environment, seat, pair, rng)) || pair
}

function swapOne(environment: EnvironmentDefinition, seat: string, pair: DealtPair, rng: Rng): DealtPair | null {
  const [hidden, theirs] = [pair.first, pair.second].map(({ state }) => hiddenFrom(state, seat)) as [
    JsonObject,
    JsonObject,
  ]
  const known = new Map(leavesOf(theirs).map(({ path, value }) => [path.join('.'), value]))
  const differing = leavesOf(hidden).filter(({ path, value }) => {
    const other = known.get(path.join('.'))
    return other !== undefined && other !== value
  })
  if (differing.length === 0) return null
  const { path } = rng.pick(differing)
  const place = path.join('.')
  const parts = replaceAt(hidden, path, known.get(place) as Json) as unknown as SessionState
  const { state, seed } = pair.first
  const swapped = withHidden(state, seat, parts)
  if (!isKept(environment, swapped)) return null
  const isWhole = canonicalJson(hiddenFrom(swapped, seat)) === canonicalJson(theirs)
  if (isWhole) return pair
  return { ...pair, second: { seed, state: swapped }, from: `${place} of ${pair.from}`, fits: false }
}

/** Returns a state with the hidden parts of another one. The seat holds what it held. */
function withHidden(state: SessionState, seat: string, { own, private: secret }: SessionState): SessionState {
  if (!state.own) return { ...state, private: secret }
  return { ...state, private: secret, own: { ...own, [seat]: state.own[seat] as JsonObject } }
}

/** Whether the schemas accept the hidden parts of a state and keep all of them. */
function isKept(environment: EnvironmentDefinition, { own = {}, private: hidden }: SessionState): boolean {
  return keepsPrivate(environment, hidden) && Object.values(own).every((part) => keepsOwn(environment, part))
}
