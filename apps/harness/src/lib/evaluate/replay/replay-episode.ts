import { type EnvironmentDefinition, type Rehearsal, rehearse } from '@episodic/mcp-server'
import {
  chainOf,
  DEFAULT_SEAT,
  type EpisodeEnd,
  type EpisodeRecord,
  isMatchRecord,
  type RecordedStep,
  type Reward,
  type SealedRecord,
  sealOf,
  type Truncation,
} from '@episodic/protocol'
import { stopReasonOf, truncationOf } from '@episodic/protocol/extend'
import { hasStarted } from '@episodic/report'
import { HarnessError } from '../../base/harness-error.ts'
import type { RecordedEpisode } from '../../run-folder/read-recorded.ts'
import { type Difference, findDifference } from './difference.ts'
import { type Divergence, describeDivergence, type Parting } from './divergence.ts'
import { canHaveRunOut } from './recorded-plan.ts'
import { replayMatch } from './replay-match.ts'
import {
  compareAction,
  compareObservation,
  playRecorded,
  type ReplayedStep,
  type ReplayOptions,
} from './replayed-step.ts'
import { createScorer, earnedBy } from './scoring.ts'

/** The result of replaying an episode. `steps` counts the reproduced ones. */
export type Replay =
  | { readonly kind: 'reproduced'; readonly steps: number }
  | { readonly kind: 'diverged'; readonly steps: number; readonly divergence: Divergence }
  | { readonly kind: 'not-replayable'; readonly steps: 0 }

/**
 * Replays a recorded episode with the world's rules alone and its recorded external inputs, and compares everything
 * that the rules decide: the start and its potential, the results of external events, and of each step the observation,
 * raw reward terms, potential, refusal, state hash and end. From these it computes rewards and returns again. A failed
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
function isReplayable(record: SealedRecord): boolean {
  return hasStarted(record) || record.steps.length > 0 || record.outcome.kind === 'finished'
}

/**
 * Replays a recorded episode and yields its start and each step, up to the first difference.
 */
export function replaySteps(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  options: ReplayOptions,
): Generator<ReplayedStep, void, undefined> {
  return isMatchRecord(record) ? replayMatch(environment, record, options) : replayOneSeat(environment, record, options)
}

function* replayOneSeat(
  environment: EnvironmentDefinition,
  record: EpisodeRecord,
  options: ReplayOptions,
): Generator<ReplayedStep, void, undefined> {
  const { strict, scoring, mayLeave, declaredOnly } = options
  const { params, seed, branch, start, steps, outcome, policy } = record
  const truncation = limitOf(outcome)
  const lastEnd = outcome.kind === 'finished' && !isEndedByPlayer(outcome, mayLeave) ? outcome.end : null
  let step = 0
  try {
    const world = rehearse(environment, { params, seed, strict })
    const difference =
      findDifference(start?.observation, world.start.observation, 'observation') ??
      findDifference(start?.potential, world.start.potential, 'potential')
    yield { step, state: world.state, parting: difference && { ...difference, step, failure: null } }
    if (difference) return
    const score = scoring && createScorer(scoring, world.start.potential)
    for (const recorded of steps) {
      const fresh = freshSeedAt(branch, step)
      step += 1
      const isLast = step === steps.length
      const { events, played } = playRecorded(world, recorded, { fresh, truncation: isLast ? truncation : null })
      const difference =
        (declaredOnly ? compareAction(environment, recorded, policy.name) : null) ??
        findDifference(recorded.events, events, 'events') ??
        compareStep(recorded, isLast ? lastEnd : null, played) ??
        (isLast && lastEnd ? findDifference(successOf(outcome), played.success, 'success') : null) ??
        (score && compareReward(recorded.reward, score(played)))
      yield { step, state: world.state, parting: difference && { ...difference, step, failure: null } }
      if (difference) return
    }
    const whole = compareWhole(environment, record, world.state, options)
    if (whole) yield { step: null, state: world.state, parting: { ...whole, step: null, failure: null } }
  } catch (error) {
    const failure = (error as Error).message
    yield { step, state: null, parting: { step, field: 'rules', recorded: 'an answer', replayed: failure, failure } }
  }
}

/**
 * Returns the seed that replaced the environment's randomness after this many steps, at a fork; `null` at other steps.
 */
export function freshSeedAt(branch: EpisodeRecord['branch'], steps: number): string | null {
  return branch?.seeds[branch.at.indexOf(steps)] ?? null
}

/**
 * Whether the player stopped, or left if it may, before the end: the episode was closed then, and no step has the end.
 */
function isEndedByPlayer({ end }: Finished, mayLeave: boolean | undefined): boolean {
  if (stopReasonOf(end)) return true
  return mayLeave === true && end.kind === 'truncated' && end.reason === 'closed'
}

type Finished = EpisodeRecord['outcome'] & { readonly kind: 'finished' }

/** Returns the limit that truncated the last step. */
export function limitOf(outcome: EpisodeRecord['outcome']): Truncation | null {
  const reason = outcome.kind === 'failed' ? null : truncationOf(outcome.end)
  return reason === 'closed' ? null : reason
}

type Played = ReturnType<Rehearsal['play']>

function compareStep(recorded: RecordedStep, end: EpisodeEnd | null, played: Played): Difference | null {
  return (
    compareObservation(recorded.observation, played.observation) ??
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
  const left = outcome.kind === 'finished' && isEndedByPlayer(outcome, mayLeave) ? outcome : null
  const given =
    left !== null || (steps.length > 0 && (limits === undefined || canHaveRunOut(environment, record, limits)))
  if (!given && outcome.kind === 'finished') return { field: 'end', recorded: outcome.end, replayed: null }
  return (
    (left &&
      findDifference(
        successOf(left),
        successOfLeft(left, environment.success({ end: left.end, state, params }, DEFAULT_SEAT)),
        'success',
      )) ??
    findDifference(returns, earnedBy(record, scoring), 'returns')
  )
}

/** The success of an episode that its player ended: a player that stopped has none, whatever its world would say. */
function successOfLeft({ end }: Finished, judged: boolean | undefined): boolean | undefined {
  return judged !== undefined && stopReasonOf(end) ? false : judged
}

/** The recorded success; `undefined` if the environment does not define it. */
function successOf(outcome: EpisodeRecord['outcome']): boolean | undefined {
  return outcome.kind === 'finished' ? outcome.success : undefined
}

function findParting(environment: EnvironmentDefinition, record: SealedRecord, options: ReplayOptions) {
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
  const chain = chainOf(record)
  const [field, recorded, replayed] =
    chain === record.chain ? ['seal', record.seal, sealOf(record)] : ['chain', record.chain, chain]
  const line: Parting = { step: null, field, recorded, replayed, failure: null }
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
    : /^action\b/.test(shown.field)
      ? 'action-edited'
      : 'world-changed'
  const cause = findDifference(first, second) === null ? always : 'not-deterministic'
  return describeDivergence(record, shown, { cause, failure })
}

/** The fields that the player computes. The chain does not cover them. */
const SCORED = /^(rewards?|returns)\b/

function assertVersion(
  { name, version }: EnvironmentDefinition,
  { task, attempt, environment: recorded }: SealedRecord,
): void {
  if (recorded.name === name && recorded.version === version) return
  throw new HarnessError(
    'version-mismatch',
    `Task ${task.id}, attempt ${attempt} was recorded in ${recorded.name} ${recorded.version}, and the world here is ${name} ${version}. Replay with the recorded version, or record again.`,
  )
}
