import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { createRng, type JsonObject, seedFor } from '@episodic/protocol'
import type { CheckContext } from '../check-context.ts'
import { type CheckOutcome, checkOutcome } from '../check-report.ts'
import { type Deal, drawDeals, hiddenFrom } from '../deal.ts'
import type { Finding } from '../finding.ts'
import { countedIn } from '../time-limit.ts'
import { findDealLeaks } from './deal-leaks.ts'
import { type PlannedPair, planPairs, STEPS } from './dealt-pairs.ts'
import { formatMoves, type PairedPlay, playPair } from './paired-play.ts'
import { CHANNELS } from './side.ts'

/** Seeds of each setting whose deals are examined. */
const DEALS = 384
const LEAST_DEALS = 8
/** Pairs that are played on, to find what leaks late, and the steps of all of them together. */
const LONG_PAIRS = 8
const LONG_STEPS = 2_400
/** Steps of a pair that is explored, those that are taken back included. */
const EXPLORED = 40
const LEAST_COMPARED = 0.1

/**
 * Plays pairs of episodes that a player must not be able to tell apart: equal parameters, public state and random
 * draws, the same moves, and another private state; in a game equal own state, and other hands of the other seats,
 * other private state, or other sealed moves. Until different values are revealed to that player, it has to get the
 * same, byte for byte: answers, refusals, the public state, views, legal actions, messages, turns and ends.
 */
export async function checkNonInterference(context: CheckContext): Promise<CheckOutcome> {
  const { settings, seed, time } = context
  const { environment } = context.world
  const count = context.affordable(DEALS, LEAST_DEALS)
  const total = settings.length + context.pairs
  const allDeals: (readonly Deal[])[] = []
  for (const setting of settings) {
    context.onProgress(allDeals.length, total)
    // Starts may be slow, and Ctrl-C can end it.
    await nextTurn()
    context.signal?.throwIfAborted()
    allDeals.push(
      drawDeals(environment, setting, seed, count, () => time.isOver((allDeals.length + 1) / settings.length / 2)),
    )
  }
  const { findings, warnings } = findDealLeaks(environment, settings, allDeals, seed)
  const planner = planPairs(environment, settings, allDeals, seed)
  if (!planner) {
    const declared = allDeals.flat().some(({ state }) => {
      const { own, private: rest } = hiddenFrom(environment, state, '')
      return [rest, ...Object.values(own ?? {})].some((part) => Object.keys(part as JsonObject).length > 0)
    })
    if (declared)
      warnings.push({
        name: 'nothing-varies',
        what: 'There is hidden state, but no two seeds differ in what they hide from a player who sees the same.',
        again: `${count} seeds of each setting, check seed ${seed}`,
        advice: 'Draw what players have to find out from rng in start. A constant is memorized.',
      })
    return checkOutcome('non-interference', 'nothing that varies is hidden, so there is nothing to compare', {
      findings,
      warnings,
      figures: { pairs: 0, steps: 0, diverged: 0, differing: 0 },
    })
  }
  const longSteps = context.affordable(LONG_STEPS, 1)
  const counts = { pairs: 0, steps: 0, compared: 0, diverged: 0, invalid: 0 }
  const onProgress = (i: number) => {
    if (i % 20 === 0 || context.pairs < 100) context.onProgress(settings.length + i, total)
  }
  for (const i of countedIn({ ...context, onProgress }, context.pairs, 'pairs')) {
    const rng = createRng(seedFor(seed, 'pair', i))
    const planned = planner.plan(rng)
    if (!planned) continue
    const isLong = i < LONG_PAIRS
    const most = isLong ? Math.max(STEPS, Math.ceil((longSteps - counts.steps) / (LONG_PAIRS - i))) : STEPS
    const explores = i % 2 === 1 && isExplored(environment, planned)
    const played = await playPair(context, planned, rng, explores && !isLong ? EXPLORED : most, explores)
    if (time.hasCut) break
    counts.pairs += 1
    counts.steps += played.steps
    counts.compared += played.compared
    if (played.diverged) counts.diverged += 1
    if (played.invalid) counts.invalid += 1
    if (played.differs) findings.push(toLeakFinding(context, played, played.differs))
  }
  warnings.push(...doubts(counts, seed))
  const { pairs, steps, diverged } = counts
  return checkOutcome(
    'non-interference',
    `${pairs} pairs${environment.multiplayer ? ` for ${planner.seats} seats` : ''}, ${steps} steps, ${diverged} diverged by revealed values: ${findings.length === 0 ? '0 bytes differ' : `${findings.length} differ`}`,
    { findings, warnings, figures: { ...counts, differing: findings.length } },
  )
}

/** What programs prepare costs too much to be taken back. Of a large state, what differs is known after a play. */
function isExplored({ forkable, tools }: EnvironmentDefinition, { narrowed, sealed }: PlannedPair): boolean {
  return forkable && !narrowed && !sealed && Object.values(tools).every(({ preparation }) => !preparation)
}

function doubts(counts: Readonly<Record<'pairs' | 'invalid' | 'compared' | 'steps', number>>, seed: string): Finding[] {
  const { pairs, invalid, compared, steps } = counts
  const again = `${pairs} pairs of check seed ${seed}`
  const found: Finding[] = []
  if (invalid > pairs / 2)
    found.push({
      name: 'pairs-invalid',
      what: `In ${invalid} of ${pairs} pairs what is hidden did not fit what the player sees, or a move of another seat was possible in one play alone, so little was compared.`,
      again,
      advice: 'If you can, draw what is hidden independently of what is seen, and the hands of seats of each other.',
    })
  if (compared <= pairs * LEAST_COMPARED)
    found.push({
      name: 'pairs-diverge',
      what: `Of ${steps} calls in ${pairs} pairs only ${compared} were accepted and revealed the same in both, so hardly anything was compared.`,
      again,
      advice: 'Mark less with reveal(…), or later, so that the rest can be compared, and export a solver.',
    })
  return found
}

function toLeakFinding(
  { world: { environment } }: CheckContext,
  { pair: { setting, seat, first, from }, moves, policies }: PairedPlay,
  { channel, difference }: NonNullable<PairedPlay['differs']>,
): Finding {
  const [kind, subject] = CHANNELS[channel]
  const last = moves.at(-1)
  const about = last && (channel === 'answer' || channel === 'state') ? last.first.tool : seat
  const when = last
    ? `Step ${moves.length} (${environment.multiplayer ? `${last.seat}: ` : ''}${JSON.stringify(last.first).slice(0, 200)})`
    : 'The start'
  const dependence = environment.multiplayer
    ? `of ${seat} depends on what is hidden from that seat`
    : 'depends on private state'
  return {
    name: `${kind}:${about}` as Finding['name'],
    what: `${when}: ${subject} ${dependence}.`,
    again: `params ${JSON.stringify(setting.params)}, seed ${first.seed} against ${from}, moves of ${policies}: ${formatMoves(environment, moves)}`,
    advice:
      'Except for what goes through reveal(…), nothing that a player gets may depend on the private state or on what other seats hold, nor may its length, order or time.',
    difference,
  }
}
