import { WireError } from '@episodic/protocol'
import { medianSorted, sampleStandardDeviation, sumSimple } from 'simple-statistics'
import { z } from 'zod'

export const aggregateRequestSchema = z.object({ verify_responses: z.array(z.looseObject({})) })

type VerifyResponse = Readonly<Record<string, unknown>>

const TASK = '_ng_task_index'
const ROLLOUT = '_ng_rollout_index'

/** Names of numeric members that answers of `verify` may have in all. */
const MOST_NAMES = 1_000
/** Numbers that they may have in all. */
const MOST_NUMBERS = 1_000_000
/** Statistics of single tasks in all: five for each name of each task. */
const MOST_STATISTICS = 1_000_000

/**
 * Summarizes answers of `verify`: the mean, highest, lowest, median and standard deviation of each numeric member, for
 * all of them and for each task. Masked answers are counted, and enter no statistic.
 *
 * Throws `too-large` for more than 1,000 names of members, a million numbers, or a million statistics of single tasks.
 */
export function aggregateMetrics(responses: readonly VerifyResponse[]) {
  if (responses.length === 0) return { group_level_metrics: [], agent_metrics: {}, key_metrics: {} }
  const measured = responses.filter(({ mask_sample }) => !mask_sample)
  const coverage = coverageOf(responses, measured)
  if (measured.length === 0) return { group_level_metrics: [], agent_metrics: coverage, key_metrics: coverage }
  const tasks = Map.groupBy(measured, taskOf)
  const statistics = statisticsOf(measured)
  const means = Object.entries(statistics).filter(([name]) => name.startsWith('mean/'))
  let left = MOST_STATISTICS
  const groupOf = ([task, rollouts]: [number, readonly VerifyResponse[]]) => {
    const ofTask = statisticsOf(rollouts)
    left -= Object.keys(ofTask).length
    if (left < 0) throw tooMany(`${MOST_STATISTICS} statistics of single tasks`)
    return { [TASK]: task, ...ofTask, num_rollouts: rollouts.length }
  }
  const rollouts = new Set(responses.map((response) => Number(response[ROLLOUT] ?? 0)))
  return {
    group_level_metrics: [...tasks].sort(([a], [b]) => a - b).map(groupOf),
    agent_metrics: { ...statistics, ...coverage, num_repeats: rollouts.size },
    key_metrics: { ...Object.fromEntries(means), ...coverage },
  }
}

function statisticsOf(responses: readonly VerifyResponse[]): Record<string, number> {
  const columns = new Map<string, number[]>()
  let left = MOST_NUMBERS
  for (const response of responses)
    for (const [name, value] of listNumbers(response)) {
      const column = columns.get(name)
      if (column) column.push(value)
      else columns.set(name, [value])
      if (columns.size > MOST_NAMES) throw tooMany(`${MOST_NAMES} names of numbers`)
      if (--left < 0) throw tooMany(`${MOST_NUMBERS} numbers`)
    }
  const statistics: Record<string, number> = {}
  for (const [name, values] of columns) {
    const sorted = Float64Array.from(values).sort()
    statistics[`mean/${name}`] = sumSimple(values) / values.length
    statistics[`max/${name}`] = sorted.at(-1) as number
    statistics[`min/${name}`] = sorted[0] as number
    statistics[`median/${name}`] = medianSorted(sorted as unknown as number[])
    statistics[`std/${name}`] = values.length > 1 ? sampleStandardDeviation(values) : 0
  }
  return statistics
}

function tooMany(what: string): WireError {
  return new WireError(
    'too-large',
    `These answers have more than ${what}. Send fewer, or leave members of your own out.`,
  )
}

function* listNumbers(response: VerifyResponse): Generator<[name: string, value: number]> {
  const { usage } = (response.response ?? {}) as { readonly usage?: VerifyResponse | null }
  for (const members of [response, usage ?? {}])
    for (const name in members) {
      if (name.startsWith('_') || name === 'mask_sample') continue
      if (members === response && usage && Object.hasOwn(usage, name)) continue
      const value = members[name]
      const number = typeof value === 'boolean' ? Number(value) : value
      if (Number.isFinite(number)) yield [name, number as number]
    }
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
