import type { EpisodeRecord } from '@episodic/protocol'
import { type Chat, chatOf, columnsOf, termSums } from './chat.ts'
import type { ExportFormat } from './export-format.ts'

/**
 * A log of Inspect, version 2, for `inspect view` and `read_eval_log`: one JSON document. An attempt is an epoch. A failed
 * episode is a sample with an error and without scores.
 */
export const inspect: ExportFormat = {
  description: 'Inspect log (JSON), failed episodes as samples with an error',
  keepsFailed: true,
  async *write(source) {
    const samples = new Set<string>()
    const means = { return: createMean(), success: createMean() }
    let environment = ''
    let player = ''
    let total = 0
    let completed = 0
    yield '{"version":2,"status":"success","samples":['
    for await (const record of source.allEpisodes()) {
      environment = `${record.environment.name} ${record.environment.version}`
      player = record.policy.name
      samples.add(record.task.id)
      const sample = sampleOf(record)
      yield `${total === 0 ? '' : ','}\n${JSON.stringify(sample)}`
      total += 1
      if (record.outcome.kind === 'failed' || !record.returns) continue
      completed += 1
      means.return.add(record.returns.unshaped)
      means.success.add(columnsOf(record).success ? 1 : 0)
    }
    const metric = (value: number) => ({ mean: { name: 'mean', value } })
    const scores = Object.entries(means).map(([name, mean]) => ({
      name,
      scorer: name,
      metrics: metric(mean.value),
    }))
    const header = {
      eval: {
        created: source.run?.createdAt ?? new Date(0).toISOString(),
        task: environment,
        dataset: { samples: samples.size },
        model: player,
        config: {},
        metadata: { run: source.run?.name ?? null },
      },
      results: {
        total_samples: total,
        completed_samples: completed,
        scores: completed > 0 ? scores : [],
      },
    }
    yield `\n],${JSON.stringify(header).slice(1)}\n`
  },
}

function createMean() {
  let [sum, count] = [0, 0]
  return {
    add(value: number) {
      sum += value
      count += 1
    },
    get value() {
      return count === 0 ? 0 : sum / count
    },
  }
}

function sampleOf(record: EpisodeRecord): object {
  const { task, attempt, environment, params, seed, outcome, returns, steps } = record
  const chat = chatOf(record)
  const columns = columnsOf(record)
  const scored = outcome.kind === 'finished' && returns
  return {
    id: task.id,
    epoch: attempt + 1,
    input: chat.opening,
    target: '',
    messages: messagesOf(chat),
    ...(scored && {
      scores: {
        return: { value: returns.unshaped, metadata: { terms: termSums(record), end: outcome.end } },
        success: { value: columns.success },
        steps: { value: steps.length },
      },
    }),
    ...(outcome.kind === 'failed' && {
      error: { message: `${outcome.error.code}: ${outcome.error.message}`, traceback: '', traceback_ansi: '' },
    }),
    metadata: {
      ...columns,
      difficulty: task.difficulty,
      version: environment.version,
      params,
      seed,
      outcome,
    },
    store: {},
    events: [],
  }
}

function messagesOf({ opening, turns }: Chat): object[] {
  return [
    { role: 'user', content: opening },
    ...turns.flatMap(({ id, tool, arguments: args, text, result, refused }) => [
      { role: 'assistant', content: text, tool_calls: [{ id, function: tool, arguments: args, type: 'function' }] },
      {
        role: 'tool',
        tool_call_id: id,
        function: tool,
        content: result,
        ...(refused && { error: { type: 'unknown', message: result } }),
      },
    ]),
  ]
}
