import { DEFAULT_SEAT, type SealedRecord, seedFor } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import { machineClock } from '@episodic/run/base/waiting-clock'
import type { RunConfiguration } from '@episodic/run/folder/plan/configuration'
import { isAgent } from '../../worlds/agents/agent.ts'
import { createRunTask, type RolloutOptions, type RunTask } from '../episodes/rollout.ts'
import { sealed } from '../record/seal-episode.ts'
import { type ToolFault, withToolFaults } from './with-tool-faults.ts'

/**
 * Plays and seals rollouts in which calls of the player in focus fail, and says in each line which did. The seed of the
 * world and the attempt decide it, so that all players of a task meet the same. Throws `option-invalid` for an agent,
 * whose calls go to the server directly, and for trees.
 */
export function createFaultyRunTask(
  options: RolloutOptions,
  { focus = DEFAULT_SEAT, branch, seats, toolFaults: rates = {} }: RunConfiguration,
): RunTask {
  const player = options.players[focus] as RolloutOptions['players'][string]
  if (isAgent(player) || branch.length > 0)
    throw invalidOption(
      isAgent(player)
        ? `--tool-faults is for policies and llm:<model>: ${player.name} calls the server by itself. Leave it out, or play another.`
        : '--tool-faults cannot be played with --branch. Use --rollouts.',
    )
  return async (planned, context) => {
    const faults: ToolFault[] = []
    const { task, attempt, origin } = planned
    // A call that was given is a step of the line, and none of the player.
    const given = origin?.call && (origin.call.seat ?? focus) === focus ? 1 : 0
    const faulty = withToolFaults(player, {
      rates,
      seed: seedFor(task.seed, 'tool-faults', attempt),
      onFault: ({ kind, step, read, ...fault }) =>
        void faults.push({
          ...{ kind, ...(seats && { seat: focus }), step: step + given, ...fault },
          ...(read !== undefined && { read: read + given }),
        }),
      wait: (milliseconds, signal) => machineClock.wait(milliseconds, signal ?? context.signal),
    })
    const runTask = createRunTask({ ...options, players: { ...options.players, [focus]: faulty } })
    const lines = await runTask(planned, context)
    return faults.length === 0 ? lines : lines.map((line) => withFaults(line, faults))
  }
}

function withFaults<Line extends SealedRecord>({ chain, time, seal, ...line }: Line, faults: readonly ToolFault[]) {
  return sealed({ ...line, faults, chain, time, seal } as unknown as Line)
}
