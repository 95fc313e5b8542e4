import type { RecordedStep, SealedRecord } from '@episodic/protocol'
import { seatRecordOf } from '../seats/seat-record.ts'
import { createBoundedMap } from './bounded-map.ts'
import { createDrawFold } from './draw-fold.ts'
import { type EpisodeIdentity, identityOf } from './episode-identity.ts'
import { createEpisodeTable, outcomeNumber } from './episode-table.ts'
import { scoredOutcomeOf } from './scored-outcome.ts'
import { createStepFold } from './step-fold.ts'
import { summarize } from './summarize.ts'
import type { ReportedRun, Summary } from './summary.ts'
import { difficultyBinOf, SPLITS } from './task-groups.ts'
import { createTokenFold } from './token-fold.ts'
import { createTreeSample } from './tree-sample.ts'

export type Fold = ReturnType<typeof createFold>

/**
 * Creates an empty fold. The summary depends neither on the order of the episodes nor on repetitions: the fold keeps
 * about 100 bytes per episode, sums these in a fixed order, and sums steps exactly.
 *
 * If an episode was sealed with different contents, one line counts. Steps are not stored, so rewards by step and by
 * term and step latencies include the steps of every such line.
 *
 * @param discount - γ of the return-to-go from a branch point. Default 1.
 * @param seat - whose figures they are, if the environment has several. Default: the first.
 */
export function createFold({
  discount = 1,
  seat,
}: {
  readonly discount?: number | undefined
  readonly seat?: string | undefined
} = {}) {
  const table = createEpisodeTable()
  const steps = createStepFold()
  const tokens = createTokenFold()
  const draws = createDrawFold()
  const unknownTools = createUnknownToolFold()
  const endings = createNames(256)
  const tags = createNames(4_096)
  const verdicts = createNames(4_096)
  const messages = createBoundedMap(256, () => ({ text: null as string | null }))
  const environments = createBoundedMap(16, () => true)
  const policies = createBoundedMap(16, () => true)
  const trees = createTreeSample(discount)
  let leaves = 0
  let repeated = 0
  return {
    /**
     * Adds one line of a run.
     *
     * @param text - its JSON, to save writing it. Default: it is written.
     * @param identity - to save finding it. Default: it is found.
     */
    add(line: SealedRecord, text?: string, identity: EpisodeIdentity = identityOf(line, text)) {
      const record = seatRecordOf(line, seat)
      const { returns, task, time, branch } = record
      const outcome = scoredOutcomeOf(record)
      const finished = outcome.kind === 'finished'
      const isNew = table.add(identity, {
        outcome: outcomeNumber(outcome),
        total: returns?.total ?? 0,
        unshaped: returns?.unshaped ?? 0,
        discounted: returns?.discounted ?? 0,
        started: time.started,
        ended: time.ended,
        steps: record.steps.length,
        refused: countRefused(record.steps),
        ending: endings.numberOf(finished ? outcome.end.reason : outcome.error.code),
        tags: tags.numberOf(task.tags.length === 0 ? '[]' : JSON.stringify([...new Set(task.tags)].sort())),
        verdicts: verdicts.numberOf(JSON.stringify(Object.entries((finished && outcome.verdicts) || {}).sort())),
        split: SPLITS.indexOf(task.split),
        difficulty: difficultyBinOf(task.difficulty),
        tree: branch ? branch.rollout + 1 : 0,
      })
      if (!isNew) {
        repeated += 1
        return
      }
      steps.add(record.steps, finished)
      tokens.add(record)
      draws.add(record)
      unknownTools.add(record.steps)
      if (branch) {
        leaves = Math.max(leaves, branch.leaves)
        trees.add({ ...record, branch }, identity)
      }
      environments.of(`${record.environment.name}@${record.environment.version}`)
      policies.of(record.policy.name)
      if (finished) return
      const example = messages.of(outcome.error.code)
      const message = outcome.error.message.slice(0, 500).toWellFormed()
      if (example && (example.text === null || message < example.text)) example.text = message
    },
    /** How many lines were exact repetitions. They do not change the summary and are not part of it. */
    get repeated() {
      return repeated
    },
    /**
     * The summary of what was added so far. More can be added afterwards.
     *
     * Throws a `RangeError` if more episodes were sealed than the run scheduled.
     */
    finish(run: Omit<ReportedRun, 'configuration'>): Summary {
      const {
        failures,
        trees: scores,
        ...figures
      } = summarize(
        run,
        table,
        { endings: endings.names(), tagSets: parsed(tags.names()), verdictSets: parsed(verdicts.names()) },
        { ...steps.finish(), ...tokens.times() },
        leaves,
      )
      const unknown = unknownTools.finish()
      const messageOf = new Map(messages.entries())
      return {
        ...figures,
        ...(unknown && { unknownTools: unknown }),
        environments: environments.entries().map(([name]) => name),
        policies: policies.entries().map(([name]) => name),
        tokens: tokens.finish(),
        seats: null,
        curriculum: draws.finish(),
        branch: scores && { leaves, ...scores, trees: trees.finish() },
        failures: failures.map((tally) => ({ ...tally, message: messageOf.get(tally.name)?.text ?? '' })),
      }
    },
  }
}

function parsed<Value>(texts: ReadonlyMap<number, string>): ReadonlyMap<number, Value> {
  return new Map([...texts].map(([number, text]) => [number, JSON.parse(text)]))
}

function countRefused(steps: readonly RecordedStep[]): number {
  let refused = 0
  for (const step of steps) if (step.refused !== null) refused += 1
  return refused
}

function createNames(limit: number) {
  let next = 1
  const numbers = createBoundedMap(limit, () => next++)
  return {
    numberOf: (name: string) => numbers.of(name) ?? 0,
    names: () => new Map(numbers.entries().map(([name, number]) => [number, name])),
  }
}

/** Most names of tools that are counted separately, and most characters of one. */
const MOST_NAMES = 16
const LONGEST_NAME = 64

/** Creates a fold of the episodes in which every call named an unknown tool. The order does not matter. */
function createUnknownToolFold() {
  let episodes = 0
  let calls = 0
  const names = createBoundedMap(MOST_NAMES, () => ({ count: 0 }))
  return {
    add(steps: readonly Pick<RecordedStep, 'action' | 'refused'>[]) {
      if (steps.length === 0 || steps.some(({ refused }) => refused !== 'tool')) return
      episodes += 1
      calls += steps.length
      for (const { action } of steps) {
        const name = names.of(action.tool.slice(0, LONGEST_NAME).toWellFormed())
        if (name) name.count += 1
      }
    },
    finish(): Summary['unknownTools'] {
      if (episodes === 0) return
      const ranked = names.entries().map(([name, { count }]) => ({ name, count }))
      return { episodes, calls, names: ranked.sort((a, b) => b.count - a.count) }
    },
  }
}
