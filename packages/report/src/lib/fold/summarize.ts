import { unearnedIn } from '../cheating/unearned.ts'
import { estimateNoise } from '../noise/noise-floor.ts'
import { createRate, createRates, shareInterval } from './clustered-rate.ts'
import { concurrencyOf } from './concurrency.ts'
import { type EpisodeRow, type EpisodeTable, OUTCOMES } from './episode-table.ts'
import { exactSum } from './exact-sum.ts'
import { isDefaultSuccess, type SuccessRule } from './scored-outcome.ts'
import { clusteredMean, computeDistribution, passAtK, passHatK } from './statistics.ts'
import type { StepFold } from './step-fold.ts'
import type { ReportedRun, Summary, Tally } from './summary.ts'
import { DIFFICULTY_BINS, SPLITS } from './task-groups.ts'
import type { TokenFold } from './token-fold.ts'
import { type SealedLeaf, scoreTrees, type TreeScores } from './tree-scores.ts'
import { type VoidBounds, voidBounds } from './void-bounds.ts'

/** A missing number stands for a name beyond the bound. */
export interface Names {
  readonly endings: ReadonlyMap<number, string>
  readonly tagSets: ReadonlyMap<number, readonly string[]>
  readonly verdictSets: ReadonlyMap<number, readonly (readonly [name: string, value: boolean])[]>
}

interface Attempts {
  finished: number
  successes: number
  failed: number
}

const MOST_TAGS = 64
const MOST_K = 100
const OTHER = 'other'

export function summarize(
  { name, scheduled, guarantees, transport, stepParts }: Omit<ReportedRun, 'configuration'>,
  table: EpisodeTable,
  names: Names,
  steps: ReturnType<StepFold['finish']> & ReturnType<TokenFold['times']>,
  /** Leaves of a whole tree; 0 if no rollout was branched. */
  leaves: number,
): Omit<Summary, 'environments' | 'policies' | 'failures' | 'branch' | 'tokens' | 'seats' | 'curriculum'> & {
  readonly failures: Tally[]
  readonly trees: TreeScores | null
} {
  const all = createColumns(table.size, ['started', 'ended', 'steps', 'refused'])
  const finished = createColumns(table.size, ['task', 'success', 'unshaped', 'total', 'discounted', 'lasted'])
  const successful = createColumns(table.size, ['task', 'steps'])
  const ends = { terminated: createTallies(), truncated: createTallies(), failed: createTallies() }
  const overall = createRate()
  const byDifficulty = createRates<number>()
  const bySplit = createRates<number>()
  const byTag = createRates<string>()
  const byVerdict = createRates<string>()
  const attempts: Attempts[] = []
  const leavesOfTrees: SealedLeaf[] = []
  const trees = new Set<string>()
  const rules = new Set<SuccessRule>()
  const firstTries = createRate()
  let failedFirst = 0
  const retried = { episodes: 0, plays: 0, finished: 0 }
  let conflicts = 0
  let truncatedSuccesses = 0
  let tasks = 0
  for (const episode of table.episodes()) {
    const { kind, success: judged } = OUTCOMES[episode.outcome] as (typeof OUTCOMES)[number]
    tasks = episode.task + 1
    all.add(episode)
    ends[kind].add(names.endings.get(episode.ending) ?? OTHER)
    conflicts += episode.conflicts
    if (episode.tries > 1) {
      retried.episodes += 1
      retried.plays += episode.tries - 1
      retried.finished += Number(kind !== 'failed')
    }
    const first = successOf(episode.first)
    if (first === null) failedFirst += 1
    else firstTries.add(episode.task, first)
    const success = successOf(episode)
    if (episode.tree > 0) {
      trees.add(`${episode.task} ${episode.tree}`)
      leavesOfTrees.push({ ...episode, success })
    }
    attempts[episode.task] ??= { finished: 0, successes: 0, failed: 0 }
    const ofTask = attempts[episode.task] as Attempts
    const tags = names.tagSets.get(episode.tags) ?? []
    if (success === null) {
      ofTask.failed += 1
      byDifficulty.addFailed(episode.difficulty)
      bySplit.addFailed(episode.split)
      for (const tag of tags) byTag.addFailed(tag)
      continue
    }
    ofTask.finished += 1
    ofTask.successes += Number(success)
    rules.add(judged === null ? 'default' : 'world')
    if (success && kind === 'truncated') truncatedSuccesses += 1
    finished.add({ ...episode, success: Number(success), lasted: episode.ended - episode.started })
    overall.add(episode.task, success)
    byDifficulty.add(episode.difficulty, episode.task, success)
    bySplit.add(episode.split, episode.task, success)
    for (const tag of tags) byTag.add(tag, episode.task, success)
    for (const [name, value] of names.verdictSets.get(episode.verdicts) ?? []) byVerdict.add(name, episode.task, value)
    if (success) successful.add(episode)
  }
  const failed = all.size - finished.size
  const rate = overall.finish()
  const task = finished.column('task')
  const verdicts = byVerdict.entries().map(([name, rate]) => ({ name, ...rate, failed }))
  return {
    format: 1,
    run: name,
    guarantees: guarantees ?? null,
    transport: transport ?? null,
    counts: {
      ...countScheduled(scheduled, finished.size, failed),
      tasks,
      steps: exactSum(all.column('steps')),
      refused: exactSum(all.column('refused')),
      conflicts,
    },
    ends: { terminated: ends.terminated.ranked(), truncated: ends.truncated.ranked() },
    retried: retried.episodes > 0 ? retried : null,
    failures: ends.failed.ranked(),
    success: {
      rules: [...rules].sort(),
      truncated: truncatedSuccesses,
      overall: rate,
      bounds: voidBounds({ successes: rate.successes, finished: finished.size, failed }),
      ...unearnedIn(finished.column('success'), finished.column('unshaped')),
      firstTry: retried.episodes > 0 ? { ...firstTries.finish(), failed: failedFirst } : null,
      byDifficulty: byDifficulty
        .entries()
        .map(([bin, rate]) => ({ from: bin / DIFFICULTY_BINS, to: (bin + 1) / DIFFICULTY_BINS, ...rate })),
      bySplit: bySplit.entries().map(([split, rate]) => ({ name: SPLITS[split] ?? OTHER, ...rate })),
      byTag: byTag
        .entries()
        .slice(0, MOST_TAGS)
        .map(([name, rate]) => ({ name, ...rate })),
      // Leaves share steps, so they are not independent attempts.
      passAtK: atEveryK(passAtK, attempts, leaves > 0 ? 1 : MOST_K),
      passHatK: atEveryK(passHatK, attempts, leaves > 0 ? 1 : MOST_K),
      noise: leaves > 0 ? null : estimateNoise(attempts),
      steps: computeDistribution(successful.column('steps'), successful.column('task'), 1),
    },
    ...(verdicts.length > 0 && { verdicts }),
    returns: {
      unshaped: computeDistribution(finished.column('unshaped'), task),
      total: computeDistribution(finished.column('total'), task),
      discounted: computeDistribution(finished.column('discounted'), task),
    },
    trees: leaves > 0 ? scoreTrees(leavesOfTrees, leaves, trees.size) : null,
    rewards: steps.rewards,
    time: {
      ...paceOf(all.column('started'), all.column('ended'), exactSum(all.column('steps'))),
      episode: computeDistribution(finished.column('lasted'), task),
      step: steps.latency,
      stepParts: stepParts ?? null,
      model: steps.model,
      waited: steps.waited,
      concurrency: concurrencyOf(all.column('started'), all.column('ended')),
    },
  }
}

function successOf({ outcome, unshaped }: EpisodeRow): boolean | null {
  const { kind, success } = OUTCOMES[outcome] as (typeof OUTCOMES)[number]
  return kind === 'failed' ? null : (success ?? isDefaultSuccess(kind, unshaped))
}

function countScheduled(scheduled: number | undefined, finished: number, failed: number) {
  const sealed = finished + failed
  if (scheduled !== undefined && scheduled < sealed)
    throw new RangeError(
      `The run scheduled ${scheduled} episodes, but ${sealed} are sealed. Report sealed episodes with the run that they belong to.`,
    )
  return { scheduled: scheduled ?? sealed, finished, failed, unresolved: (scheduled ?? sealed) - sealed }
}

/** The interval of a share over tasks, where a task counts at most as many draws as it has groups of k attempts. */
function atEveryK(
  estimate: typeof passAtK,
  attempts: readonly Attempts[],
  mostK: number,
): Summary['success']['passAtK'] {
  const most = attempts.reduce((max, { finished }) => Math.max(max, finished), 0)
  const result: Summary['success']['passAtK'] = []
  for (let k = 1; k <= Math.min(most, mostK); k++) {
    const tried = attempts.filter(({ finished }) => finished >= k)
    const estimates = tried.map(({ finished, successes }) => estimate(finished, successes, k))
    const mean = clusteredMean(estimates, [...estimates.keys()])
    if (!mean) continue
    const { mean: rate, standardError, clusters } = mean
    const groups = tried.reduce((sum, { finished }) => sum + Math.floor(finished / k), 0)
    const variance = (standardError ?? 0) ** 2
    const interval = shareInterval({ rate, variance, clusters, least: clusters, most: groups })
    result.push({ k, ...mean, ...interval, bounds: boundsAt(k, estimate, attempts) })
  }
  return result
}

function boundsAt(k: number, estimate: typeof passAtK, attempts: readonly Attempts[]): VoidBounds | null {
  const sealed = attempts.filter(({ finished, failed }) => finished + failed >= k)
  if (sealed.every(({ failed }) => failed === 0)) return null
  const mean = (won: (task: Attempts) => number) =>
    exactSum(sealed.map((task) => estimate(task.finished + task.failed, won(task), k))) / sealed.length
  return { low: mean(({ successes }) => successes), high: mean(({ successes, failed }) => successes + failed) }
}

function paceOf(started: Float64Array, ended: Float64Array, steps: number) {
  const first = started.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const last = ended.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  const milliseconds = last > first ? last - first : 0
  const perSecond = (count: number) => (milliseconds > 0 ? (count / milliseconds) * 1_000 : null)
  return { milliseconds, episodesPerSecond: perSecond(started.length), stepsPerSecond: perSecond(steps) }
}

function createColumns<Name extends string>(capacity: number, names: readonly Name[]) {
  const columns = new Map(names.map((name) => [name, new Float64Array(capacity)]))
  let size = 0
  return {
    get size() {
      return size
    },
    add(row: Readonly<Record<Name, number>>): void {
      for (const [name, column] of columns) column[size] = row[name]
      size += 1
    },
    column: (name: Name) => (columns.get(name) as Float64Array).subarray(0, size),
  }
}

function createTallies() {
  const counts = new Map<string, number>()
  return {
    add: (name: string) => void counts.set(name, (counts.get(name) ?? 0) + 1),
    ranked: (): Tally[] =>
      [...counts]
        .map(([name, count]) => ({ name, count }))
        .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)),
  }
}
