import { type Environment, rehearse } from '@episodic/mcp-server'
import {
  chainOf,
  type EpisodeEnd,
  type EpisodeRecord,
  type Observation,
  type Outcome,
  type RecordedStep,
  type Truncation,
} from '@episodic/protocol'
import { HarnessError } from '../harness-error.ts'
import { type Difference, findDifference } from './difference.ts'
import { type Divergence, describeDivergence, type Parting } from './divergence.ts'
import type { RecordedEpisode } from './read-recorded.ts'

/** What came of playing an episode again. `steps` counts those that gave what was recorded. */
export type Replay =
  | { readonly kind: 'reproduced'; readonly steps: number }
  | { readonly kind: 'diverged'; readonly steps: number; readonly divergence: Divergence }
  | { readonly kind: 'not-replayable'; readonly steps: 0 }

/** The start or a step of an episode, played again. */
export interface ReplayedMoment {
  /** From 1; 0 is the start. */
  readonly step: number
  readonly parting: Parting | null
}

/**
 * Plays a recorded episode again by the world's rules alone and compares all that they decide: the start and its
 * potential, and of each step observation, raw reward terms, potential, refusal, state hash and end. A failed episode
 * is played as far as it went. One whose state a foreign server kept, or that never began, is not replayable.
 *
 * @param strict - has the rules fail where they reach for the machine's own chance or time, see `rehearse`.
 * @throws HarnessError `version-mismatch` for a record of another environment or version.
 */
export function replayEpisode(environment: Environment, recorded: RecordedEpisode, strict: boolean): Replay {
  const { record, whole } = recorded
  assertVersion(environment, record)
  const replayable = isReplayable(record)
  const { steps, parting } = replayable ? findParting(environment, record, strict) : NOTHING_PLAYED
  if (!whole || parting) return { kind: 'diverged', steps, divergence: explain(environment, recorded, parting) }
  return replayable ? { kind: 'reproduced', steps } : { kind: 'not-replayable', steps: 0 }
}

/** Whether an episode began, in a world whose rules are ours to play. */
export function isReplayable({ start, steps }: EpisodeRecord): boolean {
  return start !== null && steps.every(({ stateHash }) => stateHash !== null)
}

/**
 * Plays a recorded episode again, moment by moment, as far as it gives what was recorded. The last moment is the one
 * that parts, where there is one.
 */
export function* replayMoments(
  environment: Environment,
  { params, seed, branch, start, steps, outcome }: EpisodeRecord,
  strict: boolean,
): Generator<ReplayedMoment, void, undefined> {
  const truncation = truncationOf(outcome)
  const lastEnd = outcome.kind === 'finished' && (truncation || outcome.end.kind === 'terminated') ? outcome.end : null
  let step = 0
  try {
    const world = rehearse(environment, { params, seed, strict })
    const difference =
      findDifference(start?.observation, world.start.observation, 'observation') ??
      findDifference(start?.potential, world.start.potential, 'potential')
    yield { step, parting: difference && { ...difference, step, failure: null } }
    if (difference) return
    for (const recorded of steps) {
      const fresh = freshSeedAt(branch, step)
      if (fresh !== null) world.reseed(fresh)
      step += 1
      const isLast = step === steps.length
      const { tool, arguments: args } = recorded.action
      const played = world.play(tool, args, { truncation: isLast ? truncation : null })
      const difference = compareStep(recorded, isLast ? lastEnd : null, played)
      yield { step, parting: difference && { ...difference, step, failure: null } }
      if (difference) return
    }
  } catch (error) {
    const failure = (error as Error).message
    yield { step, parting: { step, field: 'rules', recorded: 'an answer', replayed: failure, failure } }
  }
}

/** The seed with which the world's chance began anew after so many steps; `null` where it went on. */
export function freshSeedAt(branch: EpisodeRecord['branch'], steps: number): string | null {
  return branch?.seeds[branch.at.indexOf(steps)] ?? null
}

/** The budget that cut the last step short. A session that was closed had no step to say so. */
export function truncationOf(outcome: Outcome): Truncation | null {
  if (outcome.kind === 'failed' || outcome.end.kind === 'terminated' || outcome.end.reason === 'closed') return null
  return outcome.end.reason
}

type Played = ReturnType<ReturnType<typeof rehearse>['play']>

function compareStep(recorded: RecordedStep, end: EpisodeEnd | null, played: Played): Difference | null {
  return (
    compareObservations(recorded.observation, played.observation) ??
    findDifference(recorded.reward.terms, played.terms, 'terms') ??
    findDifference(recorded.potential, played.potential, 'potential') ??
    findDifference(recorded.refused, played.refused, 'refused') ??
    findDifference(end, played.end, 'end') ??
    findDifference(recorded.stateHash, played.stateHash, 'stateHash')
  )
}

/** Most say the same in the same order, and their texts are compared sooner than their values. */
function compareObservations(recorded: Observation, replayed: Observation): Difference | null {
  const same =
    recorded.text === replayed.text && JSON.stringify(recorded.structured) === JSON.stringify(replayed.structured)
  return same ? null : findDifference(recorded, replayed, 'observation')
}

const NOTHING_PLAYED = { steps: 0, parting: null }

function findParting(environment: Environment, record: EpisodeRecord, strict: boolean) {
  let reproduced = 0
  for (const { step, parting } of replayMoments(environment, record, strict)) {
    if (parting) return { steps: reproduced, parting }
    reproduced = step
  }
  return { steps: reproduced, parting: null }
}

/** Finds out what a divergence comes from, by playing the episode again strictly and twice plainly. */
function explain(environment: Environment, { record, whole }: RecordedEpisode, parting: Parting | null): Divergence {
  const line: Parting = { step: null, field: 'chain', recorded: record.chain, replayed: chainOf(record), failure: null }
  if (!whole) return describeDivergence(record, parting ?? line, { cause: 'edited', failure: null })
  const [strict, first, second] = [true, false, false].map((strict) => findParting(environment, record, strict).parting)
  // Strict rehearsal stops at what is forbidden; plain rehearsal shows what came of it.
  const shown = first ?? second ?? strict ?? parting ?? line
  const failure = strict?.failure ?? first?.failure ?? null
  if (failure !== null) return describeDivergence(record, shown, { cause: 'rules-failed', failure })
  const cause = findDifference(first, second) === null ? 'world-changed' : 'not-deterministic'
  return describeDivergence(record, shown, { cause, failure })
}

function assertVersion({ name, version }: Environment, { task, attempt, environment: recorded }: EpisodeRecord): void {
  if (recorded.name === name && recorded.version === version) return
  throw new HarnessError(
    'version-mismatch',
    `Task ${task.id}, attempt ${attempt} was recorded in ${recorded.name} ${recorded.version}, and the world here is ${name} ${version}. Only the version that was recorded can be asked to give the same again: replay with that, or record anew.`,
  )
}
