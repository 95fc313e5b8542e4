import { type EnvironmentDefinition, type Rehearsal, rehearse } from '@episodic/mcp-server'
import type { SealedRecord } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { compareStart, compareStep } from './compare-step.ts'
import { formatDivergence, toDivergence } from './divergence.ts'
import type { ReplayOptions } from './replayed-step.ts'

/**
 * Starts the world of an episode: at its own start, or at the step of another episode from which it goes on.
 *
 * Throws `origin-missing`, the errors of {@link putBack}, and what the rules throw.
 */
export function beginWorld(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  options: Pick<ReplayOptions, 'strict' | 'origins'>,
): Rehearsal {
  const { params, seed, origin, task, attempt } = record
  const { strict, origins } = options
  if (!origin) return rehearse(environment, { params, seed, strict })
  const parent = origins?.get(origin.seal)
  if (!parent)
    throw new HarnessError(
      'origin-missing',
      `Task ${task.id}, attempt ${attempt} goes on from a line with the seal ${origin.seal}, and the run keeps no such line. Restore its origins.jsonl from a copy, or continue the episode again.`,
    )
  const world = putBack(environment, parent, origin.step, options)
  if (origin.seed !== null) world.reseed(origin.seed)
  return world
}

/**
 * Plays the first steps of a recorded episode again, compares each with its line, and returns the world after them.
 *
 * @param step - how many steps, with those of the episodes that it goes on from.
 *
 * Throws `replay-diverged` for a start that differs from its line, or the first step that does, and the errors of
 * {@link beginWorld}.
 */
export function putBack(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  step: number,
  options: Pick<ReplayOptions, 'strict' | 'origins'>,
): Rehearsal {
  const before = record.origin?.step ?? 0
  const parent = record.origin && options.origins?.get(record.origin.seal)
  if (parent && step < before) return putBack(environment, parent, step, options)
  const world = beginWorld(environment, record, options)
  const comparing = { ...options, scoring: null, mayLeave: true }
  for (let at = -1; at < step - before; at++) {
    const difference =
      at < 0
        ? compareStart(environment, record, world, comparing)
        : compareStep(environment, world, record, at, comparing)
    if (!difference) continue
    const parting = toDivergence(record, { ...difference, step: before + at + 1 }, 'world-changed')
    throw new HarnessError('replay-diverged', formatDivergence(parting))
  }
  return world
}
