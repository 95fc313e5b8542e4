import { max, mean, median, min, sampleStandardDeviation } from 'simple-statistics'
import { z } from 'zod'

export const aggregateRequestSchema = z.object({ verify_responses: z.array(z.looseObject({})) })

type VerifyResponse = Readonly<Record<string, unknown>>

const TASK = '_ng_task_index'
const ROLLOUT = '_ng_rollout_index'

/** The summary that NeMo Gym keeps of many answers of `verify`. */
export interface AggregateMetrics {
  readonly group_level_metrics: readonly Readonly<Record<string, number>>[]
  readonly agent_metrics: Readonly<Record<string, number>>
  readonly key_metrics: Readonly<Record<string, number>>
}

/**
 * Summarizes answers of `verify`: the mean, highest, lowest, median and standard deviation of each numeric member, for
 * all of them and for each task. Masked answers are counted, and enter no statistic.
 */
export function aggregateMetrics(responses: readonly VerifyResponse[]): AggregateMetrics {
  if (responses.length === 0) return { group_level_metrics: [], agent_metrics: {}, key_metrics: {} }
  const measured = responses.filter(({ mask_sample }) => !mask_sample)
  const coverage = coverageOf(responses, measured)
  if (measured.length === 0) return { group_level_metrics: [], agent_metrics: coverage, key_metrics: coverage }
  const tasks = Map.groupBy(measured, taskOf)
  const statistics = statisticsOf(measured)
  const means = Object.entries(statistics).filter(([name]) => name.startsWith('mean/'))
  return {
    group_level_metrics: [...tasks]
      .sort(([a], [b]) => a - b)
      .map(([task, rollouts]) => ({ [TASK]: task, ...statisticsOf(rollouts), num_rollouts: rollouts.length })),
    agent_metrics: { ...statistics, ...coverage, num_repeats: new Set(responses.map(rolloutOf)).size },
    key_metrics: { ...Object.fromEntries(means), ...coverage },
  }
}

function statisticsOf(responses: readonly VerifyResponse[]): Record<string, number> {
  const columns = new Map<string, number[]>()
  for (const response of responses)
    for (const [name, value] of numbersOf(response)) {
      const column = columns.get(name)
      if (column) column.push(value)
      else columns.set(name, [value])
    }
  return Object.fromEntries(
    [...columns].flatMap(([name, values]) => [
      [`mean/${name}`, mean(values)],
      [`max/${name}`, max(values)],
      [`min/${name}`, min(values)],
      [`median/${name}`, median(values)],
      [`std/${name}`, values.length > 1 ? sampleStandardDeviation(values) : 0],
    ]),
  )
}

/** The numeric members of an answer, and those of its model's token usage. */
function numbersOf(response: VerifyResponse): [name: string, value: number][] {
  const { usage } = (response.response ?? {}) as { readonly usage?: object | null }
  return Object.entries({ ...response, ...usage })
    .filter(([name]) => !name.startsWith('_') && name !== 'mask_sample')
    .map(([name, value]): [string, unknown] => [name, typeof value === 'boolean' ? Number(value) : value])
    .filter((entry): entry is [string, number] => Number.isFinite(entry[1]))
}

/** How much of a run its statistics are computed from; nothing if all of it. */
function coverageOf(
  responses: readonly VerifyResponse[],
  measured: readonly VerifyResponse[],
): Readonly<Record<string, number>> {
  if (measured.length === responses.length) return {}
  const tasks = new Set(responses.map(taskOf))
  const measuredTasks = new Set(measured.map(taskOf))
  return {
    'coverage/measured_rollouts': measured.length,
    'coverage/masked_rollouts': responses.length - measured.length,
    'coverage/measured_tasks': measuredTasks.size,
    'coverage/fully_masked_tasks': tasks.size - measuredTasks.size,
  }
}

function taskOf(response: VerifyResponse): number {
  return Number(response[TASK] ?? 0)
}

function rolloutOf(response: VerifyResponse): number {
  return Number(response[ROLLOUT] ?? 0)
}
