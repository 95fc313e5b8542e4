import type { EpisodeRecord } from '@episodic/protocol'
import { createBoundedMap } from './bounded-map.ts'
import { identityOf } from './episode-identity.ts'
import { createEpisodeTable, outcomeNumber } from './episode-table.ts'
import { scoredOutcomeOf } from './scored-outcome.ts'
import { createStepFold } from './step-fold.ts'
import { summarize } from './summarize.ts'
import { difficultyBinOf, type ReportedRun, SPLITS, type Summary } from './summary.ts'
import { createTokenFold } from './token-fold.ts'
import { createTreeSample } from './tree-sample.ts'

/** Folds sealed episodes into a {@link Summary}. */
export interface Fold {
  /** Adds one sealed episode. */
  add(record: EpisodeRecord): void
  /** Lines that were sealed twice, word for word. Not part of the summary, which they do not change. */
  readonly repeated: number
  /**
   * The summary of what was added so far; the fold can go on afterwards.
   *
   * Throws a `RangeError` when more episodes were sealed than the run scheduled: then the two do not belong together.
   */
  finish(run: Pick<ReportedRun, 'name' | 'scheduled'>): Summary
}

/**
 * Creates an empty fold. What it returns does not depend on the order of the episodes, nor on how often one is added: it
 * remembers about 100 bytes an episode, sums those in a fixed order, and sums steps exactly.
 *
 * Where one episode was sealed with different contents, one line counts. Its steps cannot be told from the others' any
 * more, so rewards by step and by term and the latency of steps hold the steps of every such line.
 *
 * @param discount - γ of the return-to-go from a branch point. Default 1.
 */
export function createFold({ discount = 1 }: { readonly discount?: number } = {}): Fold {
  const table = createEpisodeTable()
  const steps = createStepFold()
  const tokens = createTokenFold()
  const endings = createNames(256)
  const tags = createNames(4_096)
  const messages = createBoundedMap(256, () => ({ text: null as string | null }))
  const environments = createBoundedMap(16, () => true)
  const policies = createBoundedMap(16, () => true)
  const trees = createTreeSample(discount)
  let leaves = 0
  let repeated = 0
  return {
    add(record) {
      const { returns, task, time, branch } = record
      const identity = identityOf(record)
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
        refused: record.steps.filter((step) => step.refused !== null).length,
        ending: endings.numberOf(finished ? outcome.end.reason : outcome.error.code),
        tags: tags.numberOf(JSON.stringify([...new Set(task.tags)].sort())),
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
      if (branch) {
        leaves = Math.max(leaves, branch.leaves)
        trees.add({ ...record, branch }, identity)
      }
      environments.of(`${record.environment.name}@${record.environment.version}`)
      policies.of(record.policy.name)
      if (finished) return
      const example = messages.of(outcome.error.code)
      const text = outcome.error.message.slice(0, 500).toWellFormed()
      if (example && (example.text === null || text < example.text)) example.text = text
    },
    get repeated() {
      return repeated
    },
    finish(run) {
      const {
        failures,
        trees: scores,
        ...figures
      } = summarize(
        run,
        table,
        {
          endings: endings.names(),
          tagSets: new Map(
            tags
              .names()
              .entries()
              .map(([set, text]) => [set, JSON.parse(text)]),
          ),
        },
        steps.finish(),
        leaves,
      )
      const messageOf = new Map(messages.entries())
      return {
        ...figures,
        environments: environments.entries().map(([name]) => name),
        policies: policies.entries().map(([name]) => name),
        tokens: tokens.finish(),
        branch: scores && { leaves, ...scores, trees: trees.finish() },
        failures: failures.map((tally) => ({ ...tally, message: messageOf.get(tally.name)?.text ?? '' })),
      }
    },
  }
}

/** Numbers a bounded set of names from 1; 0 stands for those that there is no room for. */
function createNames(limit: number) {
  let next = 1
  const numbers = createBoundedMap(limit, () => next++)
  return {
    numberOf: (name: string) => numbers.of(name) ?? 0,
    /** The names that stayed, by number. */
    names: () => new Map(numbers.entries().map(([name, number]) => [number, name])),
  }
}
