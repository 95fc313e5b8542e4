import { type EnvironmentDefinition, type Rehearsal, type RehearsedStep, rehearse } from '@episodic/mcp-server'
import { declaredAction } from '@episodic/mcp-server/extend'
import {
  chainOf,
  DEFAULT_SEAT,
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
import type { RecordedEpisode } from './read-recorded.ts'
import { canHaveRunOut } from './recorded-plan.ts'
import { createScorer, earnedBy, type Scoring } from './scoring.ts'

/** The result of replaying an episode. `steps` counts the reproduced ones. */
export type Replay =
  | { readonly kind: 'reproduced'; readonly steps: number }
  | { readonly kind: 'diverged'; readonly steps: number; readonly divergence: Divergence }
  | { readonly kind: 'not-replayable'; readonly steps: 0 }

/** The start or a step of a replay. */
export interface ReplayedStep {
  /** From 1; 0 is the start. `null` is the episode as a whole, yielded only if it differs. */
  readonly step: number | null
  readonly parting: Parting | null
}

export interface ReplayOptions {
  /** Makes rules fail that use the machine's randomness or clock, see `rehearse`. */
  readonly strict: boolean
  /** The scoring of its run; `null` if unknown. */
  readonly scoring: Scoring | null
  /** The limits that its run requested; left out if unknown. */
  readonly limits?: LimitsRequest | undefined
  /** Whether the player may leave before the end, as agents may. Default: `false`. */
  readonly mayLeave?: boolean | undefined
  /** Whether actions have only declared arguments, as runs record them. Default: unknown, and not compared. */
  readonly declaredOnly?: boolean | undefined
}

/**
 * Replays a recorded episode with the world's rules alone and its recorded external inputs, and compares everything that
 * the rules decide: the start and its potential, the results of external events, and of each step the observation, raw
 * reward terms, potential, refusal, state hash and end. From these it computes rewards and returns again. A failed
 * episode is replayed as far as it went; one that never started is not replayable.
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

/** An episode that failed to open has no start and nothing to replay. */
function isReplayable({ start, steps, outcome }: EpisodeRecord): boolean {
  return start !== null || steps.length > 0 || outcome.kind === 'finished'
}

/**
 * Replays a recorded episode and yields its start and each step, up to the first difference.
 */
export function* replaySteps(
  environment: EnvironmentDefinition,
  record: EpisodeRecord,
  options: ReplayOptions,
): Generator<ReplayedStep, void, undefined> {
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

/** Returns the seed that replaced the environment's randomness after this many steps, at a fork; `null` at other steps. */
export function freshSeedAt(branch: EpisodeRecord['branch'], steps: number): string | null {
  return branch?.seeds[branch.at.indexOf(steps)] ?? null
}

/** Whether an agent left before the end: the episode was closed then, and no step has the end. */
function isLeft(outcome: EpisodeRecord['outcome']): boolean {
  return outcome.kind === 'finished' && outcome.end.kind === 'truncated' && outcome.end.reason === 'closed'
}

/** Returns the limit that truncated the last step. */
export function truncationOf(outcome: EpisodeRecord['outcome']): Truncation | null {
  if (outcome.kind === 'failed' || outcome.end.kind === 'terminated' || outcome.end.reason === 'closed') return null
  return outcome.end.reason
}

/** Undeclared arguments do not affect the replay, so compare the action itself. */
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

/** Compares the parts that are in no step: an end outside of the steps, and the returns. */
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
    (left &&
      findDifference(
        successOf(left),
        environment.success({ end: left.end, state, params }, DEFAULT_SEAT),
        'success',
      )) ??
    findDifference(returns, earnedBy(record, scoring), 'returns')
  )
}

/** The recorded success; `undefined` if the environment does not define it. */
function successOf(outcome: EpisodeRecord['outcome']): boolean | undefined {
  return outcome.kind === 'finished' ? outcome.success : undefined
}

function findParting(environment: EnvironmentDefinition, record: EpisodeRecord, options: ReplayOptions) {
  let reproduced = 0
  if (!isReplayable(record)) return { steps: reproduced, parting: null }
  for (const { step, parting } of replaySteps(environment, record, options)) {
    if (parting) return { steps: reproduced, parting }
    reproduced = step ?? reproduced
  }
  return { steps: reproduced, parting: null }
}

/** Finds the cause of a divergence by replaying the episode strictly once, and plainly twice. */
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
  // Strict rehearsal stops at the forbidden call; plain rehearsal shows its effect.
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

/** The fields that the player computes. The chain does not cover them. */
const SCORED = /^(reward|returns)\b/

function assertVersion(
  { name, version }: EnvironmentDefinition,
  { task, attempt, environment: recorded }: EpisodeRecord,
): void {
  if (recorded.name === name && recorded.version === version) return
  throw new HarnessError(
    'version-mismatch',
    `Task ${task.id}, attempt ${attempt} was recorded in ${recorded.name} ${recorded.version}, and the world here is ${name} ${version}. Replay with the recorded version, or record again.`,
  )
}

/** The replay of a recorded step. */
export interface Replayed {
  /** The external events before the step, with their results now; `undefined` if there were none. */
  readonly events: RecordedStep['events']
  readonly played: RehearsedStep
}

/**
 * Replays a recorded step, after its external events. At a fork, `fresh` is the new seed of the environment's randomness;
 * otherwise `null`.
 */
export function playRecorded(
  world: Rehearsal,
  { action: { tool, arguments: args }, events, prepared }: RecordedStep,
  { fresh, truncation }: { readonly fresh: string | null; readonly truncation: Truncation | null },
): Replayed {
  const publish = (happened: NonNullable<RecordedStep['events']>) =>
    happened.map((event) => ({ ...event, ...world.publish(event.type, event.data) }))
  const inherited = publish(events?.filter((event) => event.inherited) ?? [])
  if (fresh !== null) world.reseed(fresh)
  const own = publish(events?.filter((event) => !event.inherited) ?? [])
  const played = world.play(tool, args, { truncation, prepared })
  return { events: events && [...inherited, ...own], played }
}
