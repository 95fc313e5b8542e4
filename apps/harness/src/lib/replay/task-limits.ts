import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { DEFAULT_LIMITS, type EpisodeRecord, type LimitsRequest, type Task } from '@episodic/protocol'
import type { RunConfiguration } from '../run/configuration.ts'

/** The budgets that a run asked for, by the id of the task. */
export type TaskLimits = ReadonlyMap<string, LimitsRequest>

/** The budgets that a run asks for when it plays a task. */
export function limitsOf({ limits }: Task, { maxSteps }: Pick<RunConfiguration, 'maxSteps'>): LimitsRequest {
  const steps = Math.min(limits.steps ?? Number.POSITIVE_INFINITY, maxSteps ?? Number.POSITIVE_INFINITY)
  return { ...limits, steps: Number.isFinite(steps) ? steps : undefined }
}

/** How many steps an episode can have. What a world limits itself, a run can only lower. */
export function mostSteps(
  environment: EnvironmentDefinition,
  { params }: Pick<EpisodeRecord, 'params'>,
  asked: LimitsRequest,
): number {
  const most = [asked.steps, environment.limitsFor(params).steps].filter((limit) => limit !== undefined)
  return most.length > 0 ? Math.min(...most) : DEFAULT_LIMITS.steps
}

/** Whether a budget can have run out just there. */
export function canHaveRunOut(
  environment: EnvironmentDefinition,
  record: EpisodeRecord,
  asked: LimitsRequest,
): boolean {
  const { params, steps, outcome } = record
  if (outcome.kind === 'failed' || outcome.end.kind === 'terminated') return true
  if (outcome.end.reason === 'time-limit') return (asked.seconds ?? environment.limitsFor(params).seconds) !== undefined
  return steps.length === mostSteps(environment, record, asked)
}
