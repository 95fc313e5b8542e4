import { declaredAction, type EnvironmentDefinition, type Rehearsal, rehearse } from '@episodic/mcp-server'
import {
  chainOf,
  type EpisodeEnd,
  type EpisodeRecord,
  type LimitsRequest,
  type RecordedStep,
  type Reward,
  type Truncation,
} from '@episodic/protocol'
import { HarnessError } from '../harness-error.ts'
import { type Difference, findDifference } from './difference.ts'
import { type Divergence, describeDivergence, type Parting } from './divergence.ts'
import { playRecorded } from './play-recorded.ts'
import type { RecordedEpisode } from './read-recorded.ts'
import { createScorer, earnedBy, type Scoring } from './scoring.ts'
import { canHaveRunOut } from './task-limits.ts'

/** What came of playing an episode again. `steps` counts those that gave what was recorded. */
export type Replay =
  | { readonly kind: 'reproduced'; readonly steps: number }
  | { readonly kind: 'diverged'; readonly steps: number; readonly divergence: Divergence }
  | { readonly kind: 'not-replayable'; readonly steps: 0 }

/** The start or a step of an episode, played again. */
export interface ReplayedMoment {
  /** From 1; 0 is the start, and `null` the episode as a whole, which is told only where it parts. */
  readonly step: number | null
  readonly parting: Parting | null
}

/** How an episode is replayed. */
export interface ReplayOptions {
  /** Has the rules fail where they reach for the machine's own chance or time, see `rehearse`. */
  readonly strict: boolean
  /** How its run scored it; `null` where that is not known. */
  readonly scoring: Scoring | null
  /** The budgets that its run asked for; left out where they are not known. */
  readonly limits?: LimitsRequest | undefined
  /** Whether whoever played may leave a world that has not ended, as agents may. Default: nobody may. */
  readonly mayLeave?: boolean | undefined
  /** Whether actions hold only arguments that their tools declare, as runs record them. Default: not known, and not looked at. */
  readonly declaredOnly?: boolean | undefined
}

/**
 * Plays a recorded episode again by the world's rules alone, with what came to it from outside as it is recorded, and
 * compares all that they decide: the start and its potential, what came of outside events, and of each step observation, raw
 * reward terms, potential, refusal, state hash and end. From these it makes rewards and returns anew. A failed episode is
 * played as far as it went; one that never began is not replayable.
 *
 * @throws HarnessError `version-mismatch` for a record of another environment or version.
 */
export function replayEpisode(
  environment: EnvironmentDefinition,
  recorded: RecordedEpisode,
  options: ReplayOptions,
): Replay {
  const { record, whole } = recorded
  assertVersion(environment, record)
  const replayable = isReplayable(record)
  const { steps, parting } = findParting(environment, record, options)
  if (!whole || parting)
    return { kind: 'diverged', steps, divergence: explain(environment, recorded, parting, options) }
  return replayable ? { kind: 'reproduced', steps } : { kind: 'not-replayable', steps: 0 }
}

/** Whether there is anything to play: a world that never opened leaves a failed episode without a start. */
function isReplayable({ start, steps, outcome }: EpisodeRecord): boolean {
  return start !== null || steps.length > 0 || outcome.kind === 'finished'
}

/**
 * Plays a recorded episode again, moment by moment, as far as it gives what was recorded. The last moment is the one
 * that parts, where there is one.
 */
export function* replayMoments(
  environment: EnvironmentDefinition,
  record: EpisodeRecord,
  options: ReplayOptions,
): Generator<ReplayedMoment, void, undefined> {
  const { strict, scoring, mayLeave, declaredOnly } = options
  const { params, seed, branch, start, steps, outcome } = record
  const truncation = truncationOf(outcome)
  const lastEnd = outcome.kind === 'finished' && !(mayLeave && isLeft(outcome)) ? outcome.end : null
  let step = 0
  try {
    const world = rehearse(environment, { params, seed, strict })
    const difference =
      findDifference(start?.observation, world.start.observation, 'observation') ??
      findDifference(start?.potential, world.start.potential, 'potential')
    yield { step, parting: difference && { ...difference, step, failure: null } }
    if (difference) return
    const score = scoring && createScorer(scoring, world.start.potential)
    for (const recorded of steps) {
      const fresh = freshSeedAt(branch, step)
      step += 1
      const isLast = step === steps.length
      const { events, played } = playRecorded(world, recorded, { fresh, truncation: isLast ? truncation : null })
      const difference =
        (declaredOnly ? compareAction(environment, recorded) : null) ??
        findDifference(recorded.events, events, 'events') ??
        compareStep(recorded, isLast ? lastEnd : null, played) ??
        (isLast && lastEnd ? findDifference(successOf(outcome), played.success, 'success') : null) ??
        (score && compareReward(recorded.reward, score(played)))
      yield { step, parting: difference && { ...difference, step, failure: null } }
      if (difference) return
    }
    const whole = compareWhole(environment, record, world.state, options)
    if (whole) yield { step: null, parting: { ...whole, step: null, failure: null } }
  } catch (error) {
    const failure = (error as Error).message
    yield { step, parting: { step, field: 'rules', recorded: 'an answer', replayed: failure, failure } }
  }
}

/** The seed with which the world's chance began anew after so many steps; `null` where it went on. */
export function freshSeedAt(branch: EpisodeRecord['branch'], steps: number): string | null {
  return branch?.seeds[branch.at.indexOf(steps)] ?? null
}

/** Whether an agent left before the world had ended: it was closed then, and no step says so. */
function isLeft(outcome: EpisodeRecord['outcome']): boolean {
  return outcome.kind === 'finished' && outcome.end.kind === 'truncated' && outcome.end.reason === 'closed'
}

/** The budget that cut the last step short. */
export function truncationOf(outcome: EpisodeRecord['outcome']): Truncation | null {
  if (outcome.kind === 'failed' || outcome.end.kind === 'terminated' || outcome.end.reason === 'closed') return null
  return outcome.end.reason
}

/** An argument that the tool does not declare changes nothing of what is played, and so has to be looked for. */
function compareAction(environment: EnvironmentDefinition, { action }: RecordedStep): Difference | null {
  return findDifference(action, declaredAction(environment, action), 'action')
}

type Played = ReturnType<Rehearsal['play']>

function compareStep(recorded: RecordedStep, end: EpisodeEnd | null, played: Played): Difference | null {
  return (
    findDifference(recorded.observation, played.observation, 'observation') ??
    findDifference(recorded.reward.terms, played.terms, 'terms') ??
    findDifference(recorded.potential, played.potential, 'potential') ??
    findDifference(recorded.refused, played.refused, 'refused') ??
    findDifference(end, played.end, 'end') ??
    findDifference(recorded.stateHash, played.stateHash, 'stateHash')
  )
}

function compareReward(recorded: Reward, { total, shaping }: Pick<Reward, 'total' | 'shaping'>): Difference | null {
  return (
    findDifference(recorded.shaping, shaping, 'reward.shaping') ?? findDifference(recorded.total, total, 'reward.total')
  )
}

/** What no step tells: an end that none of them gave, and what they earned. */
function compareWhole(
  environment: EnvironmentDefinition,
  record: EpisodeRecord,
  state: Rehearsal['state'],
  { scoring, limits, mayLeave }: ReplayOptions,
): Difference | null {
  const { steps, outcome, returns, params } = record
  const given =
    (mayLeave && isLeft(outcome)) ||
    (steps.length > 0 && (limits === undefined || canHaveRunOut(environment, record, limits)))
  if (!given && outcome.kind === 'finished') return { field: 'end', recorded: outcome.end, replayed: null }
  const left = mayLeave && isLeft(outcome) && outcome.kind === 'finished' ? outcome : null
  return (
    (left && findDifference(successOf(left), environment.success({ end: left.end, state, params }), 'success')) ??
    findDifference(returns, earnedBy(record, scoring), 'returns')
  )
}

/** What the world's own definition of success came to; `undefined` where it defined none. */
function successOf(outcome: EpisodeRecord['outcome']): boolean | undefined {
  return outcome.kind === 'finished' ? outcome.success : undefined
}

function findParting(environment: EnvironmentDefinition, record: EpisodeRecord, options: ReplayOptions) {
  let reproduced = 0
  if (!isReplayable(record)) return { steps: reproduced, parting: null }
  for (const { step, parting } of replayMoments(environment, record, options)) {
    if (parting) return { steps: reproduced, parting }
    reproduced = step ?? reproduced
  }
  return { steps: reproduced, parting: null }
}

/** Finds out what a divergence comes from, by playing the episode again strictly and twice plainly. */
function explain(
  environment: EnvironmentDefinition,
  { record, whole }: RecordedEpisode,
  parting: Parting | null,
  options: ReplayOptions,
): Divergence {
  const line: Parting = { step: null, field: 'chain', recorded: record.chain, replayed: chainOf(record), failure: null }
  if (!whole) return describeDivergence(record, parting ?? line, { cause: 'edited', failure: null })
  const [strict, first, second] = [true, false, false].map(
    (strict) => findParting(environment, record, { ...options, strict }).parting,
  )
  // Strict rehearsal stops at what is forbidden; plain rehearsal shows what came of it.
  const shown = first ?? second ?? strict ?? parting ?? line
  const failure = strict?.failure ?? first?.failure ?? null
  if (failure !== null) return describeDivergence(record, shown, { cause: 'rules-failed', failure })
  const always = SCORED.test(shown.field)
    ? 'score-edited'
    : shown.field.startsWith('action.')
      ? 'action-edited'
      : 'world-changed'
  const cause = findDifference(first, second) === null ? always : 'not-deterministic'
  return describeDivergence(record, shown, { cause, failure })
}

/** The fields that the player made of what the world gave. No chain covers them. */
const SCORED = /^(reward|returns)\b/

function assertVersion(
  { name, version }: EnvironmentDefinition,
  { task, attempt, environment: recorded }: EpisodeRecord,
): void {
  if (recorded.name === name && recorded.version === version) return
  throw new HarnessError(
    'version-mismatch',
    `Task ${task.id}, attempt ${attempt} was recorded in ${recorded.name} ${recorded.version}, and the world here is ${name} ${version}. Only the version that was recorded can be asked to give the same again: replay with that, or record anew.`,
  )
}
