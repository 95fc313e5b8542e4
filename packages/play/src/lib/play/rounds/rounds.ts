import type { Rows } from '@episodic/dataset'
import type { SealedRecord, Task } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import { markedJson } from '@episodic/run/base/own-mark'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { RUN_FILES, type RunManifest, writeRunFile } from '@episodic/run/folder/record/run-folder'
import type { Run } from '../find-run.ts'
import { planEpisodes } from '../plan/plan.ts'

/** The rounds of a run, played one after the other until enough is known, or all are. */
export interface Rounds {
  /** Adds a sealed line, of this start or an earlier one. */
  add(record: SealedRecord): void
  /**
   * Plays the rounds. If less than the plan was needed, the run has ended with what was played.
   *
   * @param play - plays what is missing of a round.
   */
  play(
    rounds: readonly AsyncIterable<PlannedEpisode>[],
    play: (episodes: AsyncIterable<PlannedEpisode>) => Promise<void>,
  ): Promise<void>
}

/**
 * Returns all rollouts as one round, or each as a round of its own if the run ends once enough is known. Throws
 * `option-invalid` if that run has no rounds.
 */
export async function planRounds(tasks: () => Rows<Task>, run: Pick<Run, 'configuration' | 'world'>) {
  const { until, rollouts, branch, curriculum } = run.configuration
  if (until !== undefined && (rollouts < 2 || branch.length > 0 || curriculum))
    throw invalidOption('--until plays rounds of all tasks: give --rollouts 2 or more, and no --branch or --stages.')
  // What cannot be known is said before anything is written.
  if (until !== undefined) await (await import('../until/known-rounds.ts')).openKnownRounds(until, run)
  if (curriculum?.kind === 'staged')
    return [await (await import('../plan/staged-plan.ts')).planStages(curriculum, run.configuration, tasks())]
  if (until === undefined) return [planEpisodes(tasks(), rollouts)]
  return Array.from({ length: rollouts }, (_, round) => planEpisodes(tasks(), 1, round))
}

interface RoundsOptions {
  readonly folder: string
  readonly manifest: RunManifest
  readonly signal: AbortSignal
  readonly warn: (notice: string) => void
}

export async function openRounds(options: RoundsOptions): Promise<Rounds> {
  const { folder, manifest, signal, warn } = options
  const { until } = manifest.configuration
  // It is loaded for runs that ask for it.
  const known =
    until === undefined ? null : await (await import('../until/known-rounds.ts')).openKnownRounds(until, manifest)
  return {
    add: (record) => known?.add(record),
    async play(rounds, play) {
      let count = 0
      for (const [i, round] of rounds.entries()) {
        await play(counted(round, () => (count += 1)))
        if (signal.aborted) return
        const found = known?.look(i)
        if (found) warn(`Ended after ${i + 1} of ${rounds.length} rollouts: ${found}`)
        if (found) break
      }
      if (!known || count === manifest.scheduled) return
      manifest.scheduled = count
      await writeRunFile(folder, RUN_FILES.manifest, await markedJson(folder, RUN_FILES.manifest, manifest))
    },
  }
}

async function* counted<Item>(items: AsyncIterable<Item>, onItem: () => void): AsyncGenerator<Item> {
  for await (const item of items) {
    onItem()
    yield item
  }
}
