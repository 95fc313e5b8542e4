import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import type { SealedRecord } from '@episodic/protocol'
import type { GradedParts } from '@episodic/report'
import { HarnessError } from '../../base/harness-error.ts'
import { playRecorded } from '../replay/replayed-step.ts'

/**
 * Computes the states of an episode by its rules: at the start, and after each step of the seat. Throws
 * `replay-diverged` where a state differs from the recorded one, and what the rules throw.
 *
 * @param seat - whose steps they are; `null` for an environment of one seat.
 */
export function statesOf(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  seat: string | null,
): GradedParts['states'] {
  const { params, seed, steps } = record
  const world = rehearse(environment, { params, seed })
  const start = world.state
  const states: GradedParts['states']['start'][] = []
  for (const [i, step] of steps.entries()) {
    playRecorded(world, record, i)
    if (world.stateHashAs(step.stateHash) !== step.stateHash)
      throw new HarnessError(
        'replay-diverged',
        `The state after step ${i} is not the recorded one, so no state can be graded. Replay the run to see why.`,
      )
    if (!('seat' in step) || step.seat === seat) states.push(world.state)
  }
  return { start, steps: states }
}
