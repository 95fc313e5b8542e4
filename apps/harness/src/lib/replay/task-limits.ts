import type { Environment } from '@episodic/mcp-server'
import { DEFAULT_LIMITS, type EpisodeRecord, type LimitsRequest } from '@episodic/protocol'
import type { RunConfiguration } from '../run/configuration.ts'
import { tasksOf } from '../run/plan.ts'
import type { World } from '../world.ts'

/** The budgets that a run asked for, by the id of the task. */
export type TaskLimits = ReadonlyMap<string, LimitsRequest>

/**
 * The limits of the tasks of a run, as its world's generator makes them; none where they came from a dataset, which need
 * not be here any more, or where the world is of another version. A task's id is a hash over its limits too, so that a
 * generator that has changed makes other ids, and never other limits under the same one.
 */
export async function limitsOfTasks(configuration: RunConfiguration, world: World): Promise<TaskLimits> {
  const limits = new Map<string, LimitsRequest>()
  const { tasks, environment, maxSteps } = configuration
  if (tasks.from === 'dataset' || environment.version !== world.environment.version) return limits
  for await (const task of tasksOf(configuration, world)) {
    const steps = Math.min(task.limits.steps ?? Number.POSITIVE_INFINITY, maxSteps ?? Number.POSITIVE_INFINITY)
    limits.set(task.id, { ...task.limits, steps: Number.isFinite(steps) ? steps : undefined })
  }
  return limits
}

/** Whether a budget can have run out just there. What a world limits itself, a run can only lower. */
export function canHaveRunOut(
  environment: Environment,
  { params, steps, outcome }: EpisodeRecord,
  asked: LimitsRequest,
): boolean {
  if (outcome.kind === 'failed' || outcome.end.kind === 'terminated') return true
  const own = environment.limitsFor(params)
  if (outcome.end.reason === 'time-limit') return (asked.seconds ?? own.seconds) !== undefined
  const most = [asked.steps, own.steps].filter((limit) => limit !== undefined)
  return steps.length === (most.length > 0 ? Math.min(...most) : DEFAULT_LIMITS.steps)
}
