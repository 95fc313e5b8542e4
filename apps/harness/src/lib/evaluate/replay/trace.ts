import { replaySteps } from '@episodic/analysis/replay/replay-episode'
import type { ReplayOptions } from '@episodic/analysis/replay/replayed-step'
import type { AnyStep } from '@episodic/analysis/replay/scoring'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import type { SealedRecord } from '@episodic/protocol'
import { hasStarted } from '@episodic/report/seats/seat-record'
import { endLines, indent, openingLines, stepLines } from '@episodic/run/folder/text/episode-lines'

/**
 * Replays a recorded episode strictly, and yields readable lines: each action, its recorded result, and the first
 * difference.
 */
export function* traceEpisode(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  options: Pick<ReplayOptions, 'scoring' | 'origins'>,
): Generator<string, void, undefined> {
  const steps: readonly AnyStep[] = record.steps
  yield* openingLines(record)
  if (!hasStarted(record)) return
  for (const { step, difference } of replaySteps(environment, record, { ...options, strict: true, mayLeave: true })) {
    const recorded = step === null ? undefined : steps[step - 1]
    if (recorded && step !== null) {
      yield* stepLines(recorded, step)
      yield indent(`state ${recorded.stateHash?.slice(0, 8) ?? 'unknown'}`)
    }
    if (difference) {
      const { field, recorded, replayed } = difference
      yield `≠  ${field}`
      yield indent(`recorded  ${JSON.stringify(recorded)}\nreplayed  ${JSON.stringify(replayed)}`)
      return
    }
  }
  yield* endLines(record)
}
