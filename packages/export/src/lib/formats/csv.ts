import type { EpisodeRecord } from '@episodic/protocol'
import { completionsOf } from '@episodic/report/fold/completions'
import { isSuccess, scoredOutcomeOf } from '@episodic/report/fold/scored-outcome'
import { toCsvText } from '@episodic/report/notes/contrast-tables'
import { type ModelUsage, usageOf } from '@episodic/run/folder/model-usage'
import { figuresOf } from '../episode/chat.ts'
import { returnsOf } from '../episode/rewards.ts'
import { stalenessColumns } from '../episode/staleness-columns.ts'
import type { ExportFormat } from '../export-format.ts'

/** The value of a field. `null` and `undefined` are an empty field: not known, or without meaning for this episode. */
type Cell = string | number | boolean | null | undefined

/**
 * A table for spreadsheets and data frames (RFC 4180, UTF-8): a row for each episode, failed ones included, whose
 * scores are empty. The episodes are read twice, because the first row names the terms of all of them. Columns for
 * versions of the weights are there only if one is known.
 */
export const csv: ExportFormat = {
  description: 'table: a row an episode, failed ones with empty scores',
  keepsFailed: true,
  extension: '.csv',
  async *write(source) {
    const figures = new Set<string>()
    const staleness = new Set<string>()
    for await (const record of source.allEpisodes()) {
      for (const name of Object.keys(figuresOf(record))) figures.add(name)
      for (const name of Object.keys(stalenessColumns(record, source.policyVersion))) staleness.add(name)
    }
    const names = [...figures].sort()
    const { verdicts = [] } = source
    yield lineOf([...Object.keys(COLUMNS), ...names, ...verdicts.map(({ name }) => `grade.${name}`), ...staleness])
    for await (const record of source.allEpisodes()) {
      const row = rowOf(record)
      const stale: Readonly<Record<string, Cell>> = stalenessColumns(record, source.policyVersion)
      yield lineOf([
        ...Object.values(COLUMNS).map((cellOf) => cellOf(row)),
        ...names.map((name) => row.figures[name] ?? null),
        ...verdicts.map((one) => one.of(record)),
        ...[...staleness].map((name) => stale[name]),
      ])
    }
  },
}

interface Row {
  readonly record: EpisodeRecord
  /** `null` for a failed episode. */
  readonly finished: (EpisodeRecord['outcome'] & { kind: 'finished' }) | null
  /** `null` for a finished one. */
  readonly failed: (EpisodeRecord['outcome'] & { kind: 'failed' }) | null
  /** A failed episode has none: sums of a part of it would read as a score. */
  readonly figures: Readonly<Record<string, number | boolean>>
  readonly usage: ModelUsage | null
}

function rowOf(record: EpisodeRecord): Row {
  const outcome = scoredOutcomeOf(record)
  const [finished, failed] = outcome.kind === 'finished' ? [outcome, null] : [null, outcome]
  return { record, finished, failed, figures: finished ? figuresOf(record) : {}, usage: usageOf(completionsOf(record)) }
}

const COLUMNS: Readonly<Record<string, (row: Row) => Cell>> = {
  run: ({ record }) => record.run,
  task: ({ record }) => record.task.id,
  attempt: ({ record }) => record.attempt,
  try: ({ record }) => record.try,
  environment: ({ record }) => record.environment.name,
  version: ({ record }) => record.environment.version,
  player: ({ record }) => record.policy.name,
  split: ({ record }) => record.task.split,
  difficulty: ({ record }) => record.task.difficulty,
  tags: ({ record }) => record.task.tags.join('|'),
  outcome: ({ finished }) => (finished ? 'finished' : 'failed'),
  end: ({ finished }) => finished?.end.kind,
  reason: ({ finished }) => finished?.end.reason,
  error: ({ failed }) => failed?.error.code,
  message: ({ finished, failed }) => failed?.error.message ?? finished?.stopped?.message,
  success: ({ record, finished }) => finished && isSuccess(record),
  return: ({ record, finished }) => finished && (returnsOf(record)?.unshaped ?? null),
  return_total: ({ record, finished }) => finished && (returnsOf(record)?.total ?? null),
  return_discounted: ({ record, finished }) => finished && (returnsOf(record)?.discounted ?? null),
  steps: ({ record }) => record.steps.length,
  refused: ({ record }) => record.steps.filter(({ refused }) => refused).length,
  tool_faults: ({ record }) => record.faults?.length ?? 0,
  requests: ({ usage }) => usage?.requests ?? 0,
  prompt_tokens: ({ usage }) => usage?.promptTokens,
  cached_tokens: ({ usage }) => usage?.cachedTokens,
  completion_tokens: ({ usage }) => usage?.completionTokens,
  reasoning_tokens: ({ usage }) => usage?.reasoningTokens,
  cost: ({ usage }) => usage?.cost,
  started_ms: ({ record }) => record.time.started,
  ended_ms: ({ record }) => record.time.ended,
  world_ms: ({ record }) => worldMilliseconds(record),
  model_ms: ({ usage }) => usage?.milliseconds,
  waited_ms: ({ usage }) => usage?.waited,
  seed: ({ record }) => record.seed,
  episode: ({ record }) => record.chain,
  seal: ({ record }) => record.seal,
}

/** `null` if a step was not measured. */
function worldMilliseconds({ steps }: EpisodeRecord): number | null {
  let sum = 0
  for (const { milliseconds } of steps) {
    if (milliseconds === null) return null
    sum += milliseconds
  }
  return sum
}

function lineOf(cells: readonly Cell[]): string {
  return `${cells.map(fieldOf).join(',')}\r\n`
}

function fieldOf(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  // A sum of tenths is 1.0999999999999999, which no reader wants: 15 digits are exact for what was meant.
  if (typeof cell === 'number') return String(Number(cell.toPrecision(15)))
  return typeof cell === 'string' ? toCsvText(cell) : String(cell)
}
