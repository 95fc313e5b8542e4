import { stepsOf } from '@episodic/analysis/replay/steps-before'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { isMatchRecord } from '@episodic/protocol'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import type { Continues } from '@episodic/run/folder/plan/configuration'
import { isUnchanged } from '@episodic/run/folder/read-recorded'
import type { Point } from './parent.ts'

/** Throws `option-invalid` for a change that an environment cannot take. */
export function assertChanges(
  { name, toolInfos, multiplayer, seats }: EnvironmentDefinition,
  { call, describe = {} }: Continues['changes'],
): void {
  const tools = toolInfos.map((tool) => tool.name)
  const unknown = [...(call ? [call.tool] : []), ...Object.keys(describe)].find((tool) => !tools.includes(tool))
  if (unknown !== undefined)
    throw invalidOption(`${name} has no tool "${unknown}". Its tools are: ${tools.join(', ')}.`)
  const isSeated = call?.seat !== undefined && seats.includes(call.seat)
  if (call && multiplayer && !isSeated)
    throw invalidOption(
      `${name} has several seats, and the call is of ${call.seat ? `"${call.seat}", which is none` : 'none'}. Name one, as in --call ${seats[0]}.${call.tool}. Its seats are: ${seats.join(', ')}.`,
    )
}

/**
 * Throws `option-invalid` for a step after which an episode does not go on, and `run-invalid` for an episode that was
 * changed since it was sealed or has no seal.
 */
export function assertPoint({ record, step }: Pick<Point, 'record' | 'step'>, { answer }: Continues['changes']): void {
  const { task, attempt, seal } = record
  const named = `Task ${task.id}, attempt ${attempt}`
  if (seal === null || !isUnchanged(record))
    throw new HarnessError(
      'run-invalid',
      `${named} was changed since it was sealed${seal === null ? ', or by a release that sealed none' : ''}, so nothing can go on from it. Restore the run from a copy.`,
    )
  const all = stepsOf(record)
  if (step > all || (step === all && hasEnded(record)))
    throw invalidOption(
      answer === undefined
        ? `${named} has ${all} steps, and step ${step + 1} is to be played anew. Give --step from 1 to ${all}.`
        : `${named} ended with step ${all}, so nobody reads another answer of step ${step}. Give --step from 0 to ${all - 1}.`,
    )
}

/** Whether the rules or a limit ended an episode, so that no step follows its last one. */
function hasEnded(record: Point['record']): boolean {
  if (isMatchRecord(record)) return record.outcome.kind === 'finished'
  return record.outcome.kind === 'finished' && record.outcome.stopped === undefined
}
