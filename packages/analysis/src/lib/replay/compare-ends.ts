import type { EnvironmentDefinition, Rehearsal, RehearsedStep } from '@episodic/mcp-server'
import { absenceOf } from '@episodic/mcp-server/internal'
import {
  DEFAULT_LIMITS,
  type EpisodeEnd,
  type EpisodeRecord,
  isMatchRecord,
  type LimitsRequest,
  type MatchRecord,
  type SealedRecord,
  type Truncation,
} from '@episodic/protocol'
import { judgementOf, stopReasonOf } from '@episodic/protocol/internal'
import { mapValues } from '@episodic/run/base/map-values'
import { type Difference, findDifference } from './difference.ts'
import { type Origins, type ReplayOptions, truncationAt } from './replayed-step.ts'
import { compareReturns } from './scoring.ts'
import { stepsOf, viewsAfter } from './steps-before.ts'

/** Compares how a step ended the episode: for the only seat, or for each of several, with what each learned by it. */
export function compareEnd(
  record: SealedRecord,
  at: number,
  step: RehearsedStep,
  { mayLeave }: ReplayOptions,
): Difference | null {
  const { end, seats } = step
  if (isMatchRecord(record)) {
    const { terms: _, ...learned } = seats ?? {}
    return findDifference(record.steps[at]?.seats, learned, 'seats')
  }
  const { steps, outcome } = record
  const isEnded = at === steps.length - 1 && outcome.kind === 'finished' && !isEndedByPlayer(outcome, mayLeave)
  // The step that the server took for a player that had left.
  const isLeft = absenceOf((steps[at] as EpisodeRecord['steps'][number]).action) !== null
  const left = isLeft ? CLOSED : null
  return (
    findDifference(isEnded ? outcome.end : left, end, 'end') ??
    (isEnded ? findDifference(judgementOf(outcome), judgementOf(step)) : null)
  )
}

/**
 * Compares the parts that are in no step: ends outside of the steps, limits that cannot have run out, and the returns.
 */
export function compareWhole(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  world: Pick<Rehearsal, 'evaluate' | 'end'>,
  options: ReplayOptions,
): Difference | null {
  const ends = isMatchRecord(record)
    ? compareEndsOfSeats(record, world, options)
    : compareEndByPlayer(record, world, options)
  return ends ?? compareLimits(environment, record, options) ?? compareReturns(record, options.scoring)
}

function compareEndByPlayer(
  { steps, outcome }: EpisodeRecord,
  world: Pick<Rehearsal, 'evaluate'>,
  { mayLeave }: ReplayOptions,
): Difference | null {
  if (outcome.kind === 'failed') return null
  const { end } = outcome
  if (!isEndedByPlayer(outcome, mayLeave))
    return steps.length > 0 ? null : { field: 'end', recorded: end, replayed: null }
  // A player that stopped has no success, whatever its world would say. What it left was judged as closed.
  const stopped = stopReasonOf(end) !== null
  const judged = world.evaluate(stopped ? CLOSED : end)
  const hasNone = stopped && judged.success !== undefined
  return findDifference(judgementOf(outcome), { ...judged, ...(hasNone && { success: false }) })
}

const CLOSED = { kind: 'truncated', reason: 'closed' } as const

/**
 * Whether the player stopped, or left if it may, before the end: the episode was closed then, and no step has the end.
 */
function isEndedByPlayer({ end }: { readonly end: EpisodeEnd }, mayLeave: boolean | undefined): boolean {
  if (stopReasonOf(end)) return true
  return mayLeave === true && end.kind === 'truncated' && end.reason === 'closed'
}

/**
 * Compares how a match ended for each seat: by the rules, or for all other seats as closed if the player of one cut it
 * off. Finds one that nobody ended.
 */
function compareEndsOfSeats(
  record: MatchRecord,
  { end }: Pick<Rehearsal, 'end'>,
  { origins }: ReplayOptions,
): Difference | null {
  const { seats, outcome } = record
  if (outcome.kind === 'failed') return null
  const cut = Object.keys(seats).find((name) => stopReasonOf(seats[name]?.end ?? null))
  if (end === null && cut === undefined) return { field: 'end', recorded: 'finished', replayed: null }
  const cutEnds = mapValues(seats, ({ end, success }, name) => ({
    end: name === cut ? end : CLOSED,
    ...(success !== undefined && { success: false }),
  }))
  const views = viewsAfter(record, stepsOf(record), origins)
  const byRules = Object.entries(views.results()).filter(([seat]) => views.hasEnded(seat))
  const ends = { ...(cut !== undefined && cutEnds), ...Object.fromEntries(byRules) }
  const judged = ({ end, ...rest }: Pick<MatchRecord['seats'][string], 'end' | 'success' | 'verdicts'>) => ({
    end,
    ...judgementOf(rest),
  })
  return findDifference(mapValues(seats, judged), mapValues(ends, judged), 'seats')
}

function compareLimits(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  { limits, origins }: ReplayOptions,
): Difference | null {
  const reason = record.steps.map((_, at) => truncationAt(record, at)).find((limit) => limit !== null)
  if (!limits || !reason || canHaveRunOut(environment, record, reason, limits, origins)) return null
  return { field: 'end', recorded: { kind: 'truncated', reason }, replayed: null }
}

function canHaveRunOut(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  limit: Truncation,
  asked: LimitsRequest,
  origins: Origins | undefined,
): boolean {
  const { params } = record
  if (limit === 'time-limit') return (asked.seconds ?? environment.limitsFor(params).seconds) !== undefined
  const counts = isMatchRecord(record)
    ? Object.values(viewsAfter(record, stepsOf(record), origins).results()).map(({ steps }) => steps)
    : [stepsOf(record)]
  return limit !== 'step-limit' || counts.includes(mostSteps(environment, record, asked))
}

/** A run can only lower the limit of the environment. */
export function mostSteps(
  environment: EnvironmentDefinition,
  { params }: Pick<SealedRecord, 'params'>,
  asked: LimitsRequest,
): number {
  const most = [asked.steps, environment.limitsFor(params).steps].filter((limit) => limit !== undefined)
  return most.length > 0 ? Math.min(...most) : DEFAULT_LIMITS.steps
}
