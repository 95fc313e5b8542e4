import type { EpisodeStates } from '@episodic/report/view/state-changes'
import type { FoundRun } from './folder/find-runs.ts'
import type { ViewedRun } from './folder/viewed-run.ts'

/** Computes the states of episodes, by replay with their worlds. Who starts the server knows how worlds are found. */
export interface StatesSource {
  /** @param seesPrivate - whether the private part is returned too. */
  statesOf(run: ViewedRun, row: number, seesPrivate: boolean): Promise<EpisodeStates>
  /** Of many lines of one run, in their order. */
  statesOfLines(
    run: Pick<FoundRun, 'manifest' | 'folder'>,
    lines: readonly string[],
    seesPrivate: boolean,
  ): Promise<EpisodeStates[]>
}
