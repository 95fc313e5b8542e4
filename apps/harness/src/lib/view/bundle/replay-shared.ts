import type { EpisodeStates } from '@episodic/report'
import { HarnessError } from '../../base/harness-error.ts'
import type { FoundRun } from '../folder/find-runs.ts'
import { createStatesSource } from '../states/episode-states.ts'
import type { BundleOptions } from './shared-run.ts'

/** Creates what computes the states of a run's episodes, some lines at a time; `null` if no states are shared. */
export function replayShared(found: FoundRun, { states, worlds }: BundleOptions) {
  if (states === 'none') return null
  const source = createStatesSource(worlds)
  let first: EpisodeStates | null = null
  let some = false
  return {
    async of(lines: readonly string[]) {
      const replayed = await source.statesOfLines(found, lines, states === 'all')
      first ??= replayed[0] ?? null
      some ||= replayed.some(({ source }) => source !== 'unavailable')
      return replayed
    },
    /** Throws `world-not-found` if there were lines, and none of them has states. */
    assertSome() {
      if (first && !some)
        throw new HarnessError('world-not-found', `No state of ${found.manifest.name} can be computed. ${first.why}`)
    },
  }
}
