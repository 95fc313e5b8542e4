import { type EnvironmentDefinition, type Rehearsal, type RehearsedStep, rehearse } from '@episodic/mcp-server'
import { type Action, createRng, seedFor, type Terms, type Truncation } from '@episodic/protocol'
import type { CheckContext, Setting } from '../check-context.ts'
import type { Finding } from '../finding.ts'
import { randomAction, UNPLAYABLE } from '../noisy-policy.ts'
import { type EpisodeStart, formatStart, playMove, type RehearsedEpisode } from '../rehearsed-episode.ts'
import { toolsOfSeat } from '../seat-players.ts'
import { countedIn } from '../time-limit.ts'

/** Tasks that are cut off, and the random actions of each after which it is. */
const TASKS = 12
const DEPTH = 3
/** The share of the cuts that has to pay, or of the tasks that has to succeed without work. */
const MANY = 0.5
/** Steps of a player that does nothing. */
const IDLE_STEPS = 60

interface Cut {
  readonly cut: RehearsedStep
  readonly whole: RehearsedStep
  readonly seat: string
  readonly again: string
}

/**
 * Finds terms that pay a seat for an episode that is cut off, and `success` without any work.
 *
 * A step is played with and without a limit that ends the episode. A term pays for the cut if it is higher with it, and
 * at least half of the cuts pay at least as much as the most that the term pays for an end by the rules: a term that
 * judges what was achieved by then pays less, or only where something was achieved.
 *
 * @param prizes - the most that each term has paid at an end by the rules.
 */
export async function findUnearned(context: CheckContext, prizes: ReadonlyMap<string, number>): Promise<Finding[]> {
  const { settings, seed } = context
  const { environment } = context.world
  const refused: Cut[] = []
  const played: Cut[] = []
  const idle: { readonly success: boolean; readonly again: string }[] = []
  for (const i of countedIn({ ...context, onProgress() {} }, context.episodes(TASKS, 3), 'tasks that are cut off')) {
    const own = seedFor(seed, 'unearned', i)
    const start = { environment, setting: settings[i % settings.length] as Setting, seed: own }
    const begun = rehearse(environment, { params: start.setting.params, seed: own })
    for (const truncation of ['step-limit', 'time-limit'] as const)
      refused.push(...(await cutOff(start, begun, [], UNPLAYABLE, truncation)))
    if (environment.hasSuccess && !environment.multiplayer) idle.push(...(await idleSuccess(start, begun.fork())))
    played.push(...(await cutRandomPlay(start, begun)))
  }
  const cuts = [...payingTerms(environment, refused, prizes), ...payingTerms(environment, played, prizes)]
  const findings = [...new Map(cuts.map((finding) => [finding.name, finding])).values()]
  const succeeded = [
    ...refused.flatMap(({ cut, seat, again }) => ((cut.seats?.successes?.[seat] ?? cut.success) ? [again] : [])),
    ...idle.flatMap(({ success, again }) => (success ? [again] : [])),
  ]
  const attempts = refused.length + idle.length
  if (succeeded.length > 0 && succeeded.length >= attempts * MANY)
    findings.push({
      name: 'success-unearned',
      what: `\`success\` is true for players who do nothing: in ${succeeded.length} of ${attempts} episodes of refused or idle calls.`,
      again: succeeded[0] as string,
      advice:
        'Let `success` judge what was achieved, such as `end.reason` or the state. An end alone is no success: a limit ends an episode too.',
    })
  return findings
}

export function notePrizes(prizes: Map<string, number>, { steps }: Pick<RehearsedEpisode, 'steps'>): void {
  const last = steps.at(-1)
  if (last?.end?.kind !== 'terminated') return
  for (const terms of [last.terms, ...Object.values(last.seats?.terms ?? {})])
    for (const [term, value] of Object.entries(terms)) prizes.set(term, Math.max(prizes.get(term) ?? 0, value))
}

function payingTerms(
  environment: EnvironmentDefinition,
  cuts: readonly Cut[],
  prizes: ReadonlyMap<string, number>,
): Finding[] {
  return environment.terms.flatMap((term): Finding[] => {
    const paid = cuts.map((one) => ({ ...one, more: paidBy(one, term) }))
    const most = Math.max(0, ...paid.map(({ more }) => more.cut))
    const prize = prizes.get(term) ?? most
    const paying = paid.filter(({ more: { cut, whole } }) => cut > 0 && cut > whole && cut >= prize)
    const [first] = paying
    if (!first || paying.length < cuts.length * MANY) return []
    return [
      {
        name: `truncation-paid:${term}`,
        what: `An episode that a limit cuts off earns ${first.more.cut} for "${term}", and ${first.more.whole} if the same step is not the last one: in ${paying.length} of ${cuts.length} cuts.`,
        again: first.again,
        advice: `Pay for an end by its reason, such as \`end?.reason === '…'\`: \`end\` is also set when a limit cuts the episode off.`,
      },
    ]
  })
}

function paidBy({ cut, whole, seat }: Cut, term: string): { readonly cut: number; readonly whole: number } {
  const all = (step: RehearsedStep): Readonly<Record<string, Terms>> => ({ ...step.seats?.terms, [seat]: step.terms })
  const [ended, going] = [all(cut), all(whole)]
  const seats = Object.keys(ended).map((name) => ({ cut: ended[name]?.[term] ?? 0, whole: going[name]?.[term] ?? 0 }))
  return seats.reduce((best, one) => (one.cut - one.whole > best.cut - best.whole ? one : best))
}

async function cutRandomPlay(start: EpisodeStart, rehearsal: Rehearsal): Promise<Cut[]> {
  const rng = createRng(start.seed)
  const cuts: Cut[] = []
  const played: Action[] = []
  while (played.length < DEPTH && rehearsal.end === null) {
    const [seat] = rehearsal.turn as [string]
    const action = randomAction(toolsOfSeat(start.environment, seat), rng)
    cuts.push(...(await cutOff(start, rehearsal, played, action, 'step-limit')))
    if (!(await playMove(rehearsal, { seat, action }).catch(() => null))) break
    played.push(action)
  }
  return cuts
}

async function cutOff(
  start: EpisodeStart,
  rehearsal: Rehearsal,
  played: readonly Action[],
  action: Action,
  truncation: Truncation,
): Promise<Cut[]> {
  const [seat] = rehearsal.turn as [string]
  const [cut = null, whole = null] = await Promise.all(
    [truncation, null].map((by) => playMove(rehearsal.fork(), { seat, action }, by).catch(() => null)),
  )
  if (!cut || !whole || [cut, whole].some(({ end }) => end?.kind === 'terminated')) return []
  const at = `${formatStart(start)}, cut off by the ${truncation} at step ${played.length + 1}`
  return [{ cut, whole, seat, again: `${at}: ${JSON.stringify([...played, action])}` }]
}

async function idleSuccess(start: EpisodeStart, rehearsal: Rehearsal) {
  const last = Math.min(start.setting.steps, IDLE_STEPS)
  let step: RehearsedStep | null = null
  for (let i = 1; i <= last && rehearsal.end === null; i++) {
    const [seat] = rehearsal.turn as [string]
    const truncation = i === last ? 'step-limit' : null
    step = await playMove(rehearsal, { seat, action: UNPLAYABLE }, truncation).catch(() => null)
    if (!step) break
  }
  return step ? [{ success: step.success === true, again: `${formatStart(start)}, refused calls to the end` }] : []
}
