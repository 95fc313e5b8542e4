import type { EpisodeRecord, SealedRecord } from '@episodic/protocol'
import { createForkReturns, type ForkAdvantage } from '@episodic/report'
import { loadWords } from '../episode/load-episode.ts'
import type { Source } from '../source/source.ts'
import { countingLines } from './attempts.ts'
import { loadLines, MOST_LINES } from './load-group.ts'

/** What the steps of a leaf were worth between its forks. */
export interface LoadedTree {
  /** γ of the returns. */
  readonly discount: number
  /** `null` if the tree has more leaves than are read. */
  readonly advantages: readonly ForkAdvantage[] | null
}

/** Loads the tree of an episode, and compares its steps with those of its siblings; `null` for what is no leaf. */
export async function loadTree(source: Source, run: string, record: SealedRecord): Promise<LoadedTree | null> {
  const { branch = null } = record as Partial<EpisodeRecord>
  if (!branch) return null
  const { discount: set } = (await source.run(run)).configuration
  const discount = typeof set === 'number' ? set : 1
  if (branch.leaves > MOST_LINES) return { discount, advantages: null }
  const [task] = (await source.tasks(run, record.task.id)).filter(({ task: id }) => id === record.task.id)
  const lines = countingLines(await loadWords(source, run, task?.rows ?? []))
  const own = lines.filter(({ words: { attempt } }) => Math.floor(attempt / branch.leaves) === branch.rollout)
  const returns = createForkReturns(discount)
  for (const leaf of await loadLines(source, run, own)) returns.add(leaf as EpisodeRecord)
  return { discount, advantages: returns.advantagesOf(record as EpisodeRecord) }
}
