import type { Completion, SealedRecord } from '@episodic/protocol'
import { countUnpriced, isAnswered, isCounted } from '../fold/completions.ts'
import { drawOf } from '../fold/episode-identity.ts'
import { outcomeNumber } from '../fold/episode-table.ts'
import { computeStaleness, policyVersionsOf } from '../fold/policy-versions.ts'
import { isSuccess, scoredOutcomeOf } from '../fold/scored-outcome.ts'
import { SPLITS } from '../fold/task-groups.ts'
import { seatRecordOf } from '../seats/seat-record.ts'
import type { COLUMN_TYPES } from './columns.ts'

type Numbered = 'counts' | 'task' | 'ending' | 'player' | 'tags' | 'version'

/** The values of a sealed line, see {@link COLUMN_TYPES}, with words where the columns have their numbers. */
export type Row = { readonly [name in Exclude<keyof typeof COLUMN_TYPES, Numbered>]: number } & {
  readonly task: string
  readonly ending: string
  readonly player: string
  readonly tags: string
  readonly version: string
  /** The raw sum of each reward term. Empty for a failed episode, which has no score. */
  readonly terms: { readonly [name: string]: number }
}

/**
 * Returns the values of a sealed line.
 *
 * @param seat - whose figures they are, if the environment has several. Default: the first.
 */
export function rowOf(line: SealedRecord, seat?: string): Row {
  const record = seatRecordOf(line, seat)
  const { task, steps, returns, time, branch } = record
  const outcome = scoredOutcomeOf(record)
  const finished = outcome.kind === 'finished'
  const scored = finished ? returns : null
  const terms: Record<string, number> = {}
  let refused = 0
  let worldMilliseconds = Number.NaN
  const completions: Completion[] = []
  for (const step of steps) {
    if (step.refused !== null) refused += 1
    worldMilliseconds = plus(worldMilliseconds, step.milliseconds)
    if (step.completions) completions.push(...step.completions)
    if (finished)
      for (const name in step.reward.terms) terms[name] = (terms[name] ?? 0) + (step.reward.terms[name] as number)
  }
  for (const [name, value] of Object.entries((finished && outcome.verdicts) || {}))
    terms[`verdict.${name}`] = Number(value)
  if (record.undecided) completions.push(...record.undecided)
  const versions = policyVersionsOf(record)
  return {
    task: task.id,
    attempt: record.attempt,
    try: record.try,
    outcome: outcomeNumber(outcome),
    success: Number(isSuccess(record)),
    ending: finished ? outcome.end.reason : outcome.error.code,
    player: record.policy.name,
    tags: JSON.stringify([...new Set(task.tags)].sort()),
    version: versions?.oldest ?? '',
    staleness: (versions && computeStaleness(versions.oldest, versions.newest)) ?? Number.NaN,
    split: SPLITS.indexOf(task.split),
    tree: branch ? branch.rollout + 1 : 0,
    difficulty: task.difficulty,
    draw: drawOf(record),
    unshaped: scored?.unshaped ?? Number.NaN,
    total: scored?.total ?? Number.NaN,
    discounted: scored?.discounted ?? Number.NaN,
    steps: steps.length,
    refused,
    started: time.started,
    ended: time.ended,
    ...spentOn(completions),
    worldMilliseconds,
    cut: completions.reduce((sum, { cut = 0 }) => sum + cut, record.transcript?.cut ?? 0),
    terms,
  }
}

/** Requests that failed before an answer count as waiting for it. */
function spentOn(completions: readonly Completion[]) {
  // A sum of only a part would pass for the whole.
  const isWhole = completions.filter(isAnswered).every(isCounted)
  let [promptTokens, cachedTokens, completionTokens] = [Number.NaN, Number.NaN, Number.NaN]
  let [modelMilliseconds, waitedMilliseconds] = [Number.NaN, Number.NaN]
  let cost: number | null = completions.length > 0 && completions.every((one) => countUnpriced(one) === 0) ? 0 : null
  for (const { time, tries = [], ...answer } of completions) {
    promptTokens = plus(promptTokens, isWhole ? answer.promptTokens : 0)
    cachedTokens = plus(cachedTokens, answer.cachedTokens)
    completionTokens = plus(completionTokens, isWhole ? answer.completionTokens : 0)
    cost = cost === null ? null : cost + (answer.cost ?? 0)
    modelMilliseconds = plus(modelMilliseconds, time?.milliseconds)
    waitedMilliseconds = plus(waitedMilliseconds, time?.waited)
    for (const failed of tries) waitedMilliseconds = plus(waitedMilliseconds, failed.milliseconds)
  }
  return {
    promptTokens,
    cachedTokens,
    completionTokens,
    cost: cost ?? Number.NaN,
    modelMilliseconds,
    waitedMilliseconds,
  }
}

/** Adds what is known; the sum of nothing is `NaN`. */
function plus(sum: number, value: number | null | undefined): number {
  if (value === null || value === undefined) return sum
  return (Number.isNaN(sum) ? 0 : sum) + value
}
