import { createRng, type Rng, seedFor } from '@episodic/protocol'
import type { CheckContext, Setting } from '../check-context.ts'
import { type CheckOutcome, checkOutcome } from '../check-report.ts'
import { type Deal, drawDeals } from '../deal.ts'
import type { Finding } from '../finding.ts'
import { findDealLeaks } from './deal-leaks.ts'
import { dealsFor, drawDealtPair, type SeatDeals } from './dealt-pairs.ts'
import { type Channel, type PairedPlay, type PlannedPair, playPair } from './paired-play.ts'
import { comparePairsAtSeats } from './seat-endpoints.ts'

/** Seeds of each setting whose deals are examined, and how many of them form pairs. */
const DEALS = 384
const PAIRED = 96

/** What a pair can be drawn from: a setting, and a seat that something is hidden from. */
export interface HiddenFromSeat {
  readonly setting: Setting
  readonly deals: SeatDeals
  /** Whether its deals vary in what is hidden from the seat. */
  readonly varies: boolean
}

/**
 * Plays pairs of episodes that one seat must not be able to tell apart: equal parameters, public state and own state,
 * the same moves of all seats, and other hands of the other seats, other private state, or other sealed moves. Until
 * different values are revealed to that seat, it has to get the same, byte for byte: answers, refusals, views, legal
 * actions, messages, turns and ends.
 */
export async function checkSeatInterference(context: CheckContext): Promise<CheckOutcome> {
  const { world, settings, seed } = context
  const { environment } = world
  const allDeals = settings.map((setting) => drawDeals(environment, setting, seed, DEALS))
  const findings: Finding[] = [...findDealLeaks(settings, allDeals)]
  const warnings: Finding[] = []
  const sealed = Object.values(environment.tools).some((tool) => tool.sealed)
  const hidden = settings.flatMap((setting, i) =>
    hiddenFromSeats(context, setting, allDeals[i] as readonly Deal[], sealed),
  )
  if (hidden.length === 0) {
    const declared = allDeals
      .flat()
      .some(({ state: { own = {}, private: rest } }) =>
        [rest, ...Object.values(own)].some((part) => Object.keys(part).length > 0),
      )
    if (declared)
      warnings.push({
        name: 'nothing-varies',
        what: 'There is hidden state, but no two seeds differ in what they hide from a seat that sees the same.',
        again: `${DEALS} seeds of each setting, check seed ${seed}`,
        advice: 'Draw what seats have to find out from rng in start. A constant is memorized.',
      })
    const summary = 'nothing that varies is hidden from any seat, so there is nothing to compare'
    return checkOutcome('non-interference', summary, {
      findings,
      warnings,
      figures: { pairs: 0, steps: 0, differing: 0 },
    })
  }
  const counts = { pairs: 0, steps: 0, diverged: 0, divergedAtOnce: 0, invalid: 0 }
  const seats = new Set<string>()
  for (let i = 0; i < context.pairs; i++) {
    context.signal?.throwIfAborted()
    if (i % 20 === 0) context.onProgress(i, context.pairs)
    const rng = createRng(seedFor(seed, 'pair', i))
    const planned = planPair(context, hidden, sealed, rng)
    if (!planned) continue
    seats.add(planned.seat)
    const played = await playPair(world, planned, rng)
    counts.pairs += 1
    counts.steps += played.moves.length
    if (played.diverged) counts.diverged += 1
    if (played.diverged && played.moves.length === 0) counts.divergedAtOnce += 1
    if (played.invalid) counts.invalid += 1
    if (played.differs) findings.push(describe(planned, played, played.differs))
  }
  const endpoints = await comparePairsAtSeats(context, (rng) => planPair(context, hidden, sealed, rng))
  findings.push(...endpoints.findings)
  warnings.push(...doubts(counts, seed))
  const { pairs, steps, diverged } = counts
  return checkOutcome(
    'non-interference',
    `${pairs} pairs for ${seats.size} seats, ${steps} steps, ${diverged} diverged by revealed values; ${endpoints.pairs} pairs by session URL and seat handle (${endpoints.messages} answers): ${findings.length === 0 ? '0 bytes differ' : `${findings.length} differ`}`,
    {
      findings,
      warnings,
      figures: {
        ...counts,
        endpointPairs: endpoints.pairs,
        endpointMessages: endpoints.messages,
        endpointBytes: endpoints.bytes,
        differing: findings.length,
      },
    },
  )
}

/** Returns the seats of a setting that something is hidden from. */
function hiddenFromSeats(
  { world: { environment }, seed }: CheckContext,
  setting: Setting,
  deals: readonly Deal[],
  sealed: boolean,
): HiddenFromSeat[] {
  return Object.keys(deals[0]?.state.own ?? {}).flatMap((seat) => {
    const own = dealsFor(seat, deals.slice(0, PAIRED))
    const varies = drawDealtPair(environment, own, createRng(seed)) !== null
    return varies || sealed ? [{ setting, deals: own, varies }] : []
  })
}

/** Draws a pair: of deals, of sealed moves from one deal, or of both. */
function planPair(
  { world: { environment } }: CheckContext,
  hidden: readonly HiddenFromSeat[],
  sealed: boolean,
  rng: Rng,
): PlannedPair | null {
  const { setting, deals, varies } = rng.pick(hidden)
  const { seat } = deals
  const pair = varies && (!sealed || rng.chance()) ? drawDealtPair(environment, deals, rng) : null
  if (pair) return { ...pair, setting, seat, sealed: sealed && rng.chance() }
  if (!sealed) return null
  const { deal } = rng.pick(deals.deals)
  return { first: deal, second: deal, from: 'other sealed moves', fits: true, setting, seat, sealed }
}

function doubts(
  {
    pairs,
    invalid,
    divergedAtOnce,
  }: { readonly pairs: number; readonly invalid: number; readonly divergedAtOnce: number },
  seed: string,
): Finding[] {
  const again = `${pairs} pairs of check seed ${seed}`
  const found: Finding[] = []
  if (invalid > pairs / 2)
    found.push({
      name: 'pairs-invalid',
      what: `In ${invalid} of ${pairs} pairs a move of another seat was possible with one of two hands alone, so little was compared.`,
      again,
      advice: 'If you can, let the hands of the seats be independent of each other.',
    })
  // If a larger share diverges at the first move, too little was compared to conclude anything.
  if (divergedAtOnce > pairs * 0.9)
    found.push({
      name: 'pairs-diverge',
      what: `${divergedAtOnce} of ${pairs} pairs diverged at the first move, by what it revealed, so hardly anything was compared.`,
      again,
      advice: 'Mark less with reveal(…), or later, so that the rest can be compared.',
    })
  return found
}

/** The finding of each channel, and what it is about. */
const DIFFERING: Readonly<Record<Channel, readonly [Finding['name'], string]>> = {
  answer: ['answer-differs', 'The answer'],
  view: ['view-differs', 'What the seat sees'],
  legal: ['legal-differs', 'The legal actions'],
  message: ['message-differs', 'The messages'],
  turn: ['turn-differs', 'Whether it is the turn of the seat'],
  end: ['end-differs', 'The end for the seat'],
}

function describe(
  { setting: { params }, seat, first, from }: PlannedPair,
  { moves, policies }: PairedPlay,
  { channel, difference }: NonNullable<PairedPlay['differs']>,
): Finding {
  const [kind, subject] = DIFFERING[channel]
  const last = moves.at(-1)
  const about = channel === 'answer' && last ? last.first.tool : seat
  const when = last
    ? `after step ${moves.length} (${last.seat}: ${JSON.stringify(last.first).slice(0, 200)})`
    : 'at the start'
  return {
    name: `${kind}:${about}` as Finding['name'],
    what: `${subject} (${seat}) ${when} depends on what is hidden from that seat.`,
    again: `params ${JSON.stringify(params)}, seed ${first.seed} against ${from}, moves of ${policies}: ${JSON.stringify(moves).slice(0, 600)}`,
    advice:
      'Except for what goes through reveal(…), nothing that a seat gets may depend on the private state or on what other seats hold, nor may its length, order or time.',
    difference,
  }
}
