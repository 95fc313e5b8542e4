import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { chainOf, type SealedRecord, sealOf } from '@episodic/protocol'
import { hasStarted } from '@episodic/report/seats/seat-record'
import { HarnessError } from '@episodic/run/base/harness-error'
import type { RecordedEpisode } from '@episodic/run/folder/read-recorded'
import { compareWhole } from './compare-ends.ts'
import { compareStart, compareStep } from './compare-step.ts'
import { findDifference } from './difference.ts'
import { type Divergence, type Parting, toDivergence } from './divergence.ts'
import { beginWorld } from './put-back.ts'
import type { ReplayedStep, ReplayOptions } from './replayed-step.ts'

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

export function* replaySteps(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  options: ReplayOptions,
): Generator<ReplayedStep, void, undefined> {
  let step = 0
  try {
    const world = beginWorld(environment, record, options)
    let difference = compareStart(environment, record, world, options)
    yield { step, state: world.state, difference }
    while (!difference && step < record.steps.length) {
      step += 1
      difference = compareStep(environment, world, record, step - 1, options)
      yield { step, state: world.state, difference }
    }
    const whole = difference ? null : compareWhole(environment, record, world, options)
    if (whole) yield { step: null, state: world.state, difference: whole }
  } catch (error) {
    const replayed = (error as Error).message
    yield { step, state: null, difference: { field: 'rules', recorded: 'an answer', replayed } }
  }
}

function findParting(environment: EnvironmentDefinition, record: SealedRecord, options: ReplayOptions) {
  let reproduced = 0
  if (!isReplayable(record)) return { steps: reproduced, parting: null }
  for (const { step, difference } of replaySteps(environment, record, options)) {
    if (difference) return { steps: reproduced, parting: { ...difference, step } }
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
  const line = { step: null, field, recorded, replayed }
  if (!whole) return toDivergence(record, parting ?? line, 'edited')
  const [strict, first, second] = [true, false, false].map(
    (strict) => findParting(environment, record, { ...options, strict }).parting,
  )
  // Strict rehearsal stops at the forbidden call; plain rehearsal shows its effect.
  const shown = first ?? second ?? strict ?? parting ?? line
  const failed = [strict, first].find((parting) => parting?.field === 'rules')
  if (failed) return toDivergence(record, shown, 'rules-failed', String(failed.replayed))
  const always = SCORED.test(shown.field)
    ? 'score-edited'
    : /^action\b/.test(shown.field)
      ? 'action-edited'
      : 'world-changed'
  return toDivergence(record, shown, findDifference(first, second) === null ? always : 'not-deterministic')
}

/** The fields that the player computes. The chain does not cover them. */
const SCORED = /^(rewards?|returns)\b/

/** Throws `version-mismatch` if an episode was recorded in another environment, or in another version of it. */
export function assertVersion(
  { name, version }: EnvironmentDefinition,
  { task, attempt, environment: recorded }: Pick<SealedRecord, 'task' | 'attempt' | 'environment'>,
): void {
  if (recorded.name === name && recorded.version === version) return
  throw new HarnessError(
    'version-mismatch',
    `Task ${task.id}, attempt ${attempt} was recorded in ${recorded.name} ${recorded.version}, and the world here is ${name} ${version}. Name the recorded version with --world, or record again.`,
  )
}
