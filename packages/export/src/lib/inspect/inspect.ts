import { contentId, type EpisodeRecord } from '@episodic/protocol'
import { completionsOf } from '@episodic/report/fold/completions'
import { scoredOutcomeOf } from '@episodic/report/fold/scored-outcome'
import { voidBounds } from '@episodic/report/fold/void-bounds'
import { timelineOf } from '../episode/timeline.ts'
import type { ExportFormat, ExportSource } from '../export-format.ts'
import { inspectUsage, type Tokens } from './inspect-messages.ts'
import { sampleFileOf, sampleIdOf, sampleOf, scoresOf, summaryOf, timeOf } from './inspect-sample.ts'
import { writeZip, type ZipEntry } from './zip.ts'

/**
 * A log of Inspect, version 2, for `inspect view` and `read_eval_log`: a zip. An episode is a sample, and an attempt an
 * epoch. A failed episode is a sample with an error and without scores. The episodes are read twice, because the list
 * of samples is an entry of its own.
 */
export const inspect: ExportFormat = {
  description: 'Inspect log (.eval), failed episodes as samples with an error',
  keepsFailed: true,
  extension: '.eval',
  isBinary: true,
  write: (source) => writeZip(writeEntries(source), new Date(createdAt(source))),
}

function createdAt({ run }: ExportSource): string {
  return run?.createdAt ?? timeOf(0)
}

async function* writeEntries(source: ExportSource): AsyncGenerator<ZipEntry> {
  const totals = createTotals(source)
  for await (const record of source.allEpisodes()) {
    totals.add(record)
    yield { name: sampleFileOf(record), pieces: [JSON.stringify(sampleOf(record, source))] }
  }
  yield { name: 'summaries.json', pieces: writeSummaries(source) }
  yield { name: 'reductions.json', pieces: [JSON.stringify(totals.reductions())] }
  const head = totals.head()
  yield { name: '_journal/start.json', pieces: [JSON.stringify(head)] }
  yield { name: 'header.json', pieces: [JSON.stringify({ ...head, ...totals.results() })] }
}

async function* writeSummaries(source: ExportSource): AsyncGenerator<string> {
  let separator = '['
  for await (const record of source.allEpisodes()) {
    yield `${separator}\n${JSON.stringify(summaryOf(record, source))}`
    separator = ','
  }
  yield separator === '[' ? '[]' : '\n]'
}

interface Mean {
  readonly sum: number
  readonly count: number
}

/** What a log says about all of its samples. Memory grows with the tasks and their scores. */
function createTotals(source: ExportSource) {
  const [environments, versions, players] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const tasks = new Set<string>()
  // By score, then by task.
  const means = new Map<string, Map<string, Mean>>()
  const models = new Map<string, Tokens>()
  let [total, completed, epochs] = [0, 0, 1]
  let [started, ended] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

  return {
    add(record: EpisodeRecord) {
      environments.add(record.environment.name)
      versions.add(record.environment.version)
      players.add(record.policy.name)
      tasks.add(record.task.id)
      const timeline = timelineOf(record, source)
      started = Math.min(started, timeline.started)
      ended = Math.max(ended, timeline.ended)
      epochs = Math.max(epochs, record.attempt + 1)
      total += 1
      if (scoredOutcomeOf(record).kind === 'finished') completed += 1
      for (const completion of completionsOf(record))
        models.set(completion.model, addTokens(models.get(completion.model), completion))
      for (const [name, value] of Object.entries(scoresOf(record, source) ?? {})) {
        // The mean of labels is none; samples have them.
        if (typeof value === 'string') continue
        const byTask = means.get(name) ?? new Map<string, Mean>()
        means.set(name, byTask)
        const { sum, count } = byTask.get(record.task.id) ?? { sum: 0, count: 0 }
        byTask.set(record.task.id, { sum: sum + Number(value), count: count + 1 })
      }
    },

    head() {
      const run = source.run?.name ?? 'lines'
      const created = createdAt(source)
      const player = [...players].join(', ') || 'none'
      const id = contentId(`${run}/${created}`)
      return {
        version: 2,
        eval: {
          eval_id: id.slice(0, 22),
          run_id: id.slice(0, 22),
          created,
          task: [...environments].join(', ') || 'none',
          task_id: id.slice(22, 44),
          task_version: [...versions].join(', ') || '0',
          dataset: { name: run, samples: tasks.size, sample_ids: [...tasks].map(sampleIdOf), shuffled: false },
          model: player,
          config: { epochs, epochs_reducer: ['mean'] },
          scorers: [...means.keys()].map((name) => ({ name })),
          metadata: { run: source.run?.name ?? null },
        },
        plan: { name: 'plan', steps: [{ solver: player, params: {} }], config: {} },
      }
    },

    results() {
      const scores = [...means].map(([name, byTask]) => {
        const { sum, count } = [...byTask.values()].reduce(
          (all, mean) => ({ sum: all.sum + mean.sum, count: all.count + mean.count }),
          { sum: 0, count: 0 },
        )
        return {
          name,
          scorer: name,
          reducer: 'mean',
          scored_samples: count,
          unscored_samples: total - count,
          metrics: {
            mean: { name: 'mean', value: sum / count },
            ...errorOf([...byTask.values()], sum / count),
            ...(name === 'success' && boundsOf(sum, count, total)),
          },
        }
      })
      const isEmpty = total === 0
      return {
        status: 'success',
        results: { total_samples: total, completed_samples: completed, scores },
        stats: {
          started_at: isEmpty ? '' : timeOf(started),
          completed_at: isEmpty ? '' : timeOf(ended),
          model_usage: Object.fromEntries([...models].map(([model, tokens]) => [model, inspectUsage([tokens])])),
        },
      }
    },

    reductions() {
      return [...means].map(([scorer, byTask]) => ({
        scorer,
        reducer: 'mean',
        samples: [...byTask].map(([task, { sum, count }]) => ({ sample_id: sampleIdOf(task), value: sum / count })),
      }))
    },
  }
}

/** The standard error of a mean, clustered by task as in `clusteredMean`; none for one task. */
function errorOf(tasks: readonly Mean[], mean: number) {
  const total = tasks.reduce((all, { count }) => all + count, 0)
  if (tasks.length < 2) return {}
  const squares = tasks.reduce((all, { sum, count }) => all + (sum - count * mean) ** 2, 0)
  const value = Math.sqrt((tasks.length / (tasks.length - 1)) * squares) / total
  return { stderr: { name: 'stderr', value } }
}

/** The shares of success if all failed episodes were lost, and all won; none if no episode failed. */
function boundsOf(successes: number, finished: number, total: number) {
  const bounds = voidBounds({ successes, finished, failed: total - finished })
  if (!bounds) return {}
  return {
    if_failed_lost: { name: 'if_failed_lost', value: bounds.low },
    if_failed_won: { name: 'if_failed_won', value: bounds.high },
  }
}

/** Sums tokens and cost; without a price for one of them there is no cost. */
function addTokens(sum: Tokens | undefined, next: Tokens): Tokens {
  if (!sum) return next
  const plus = (a: number | undefined, b: number | undefined) =>
    a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
  return {
    promptTokens: sum.promptTokens + next.promptTokens,
    completionTokens: sum.completionTokens + next.completionTokens,
    cachedTokens: plus(sum.cachedTokens, next.cachedTokens),
    reasoningTokens: plus(sum.reasoningTokens, next.reasoningTokens),
    cost: sum.cost === null || next.cost === null ? null : sum.cost + next.cost,
  }
}
