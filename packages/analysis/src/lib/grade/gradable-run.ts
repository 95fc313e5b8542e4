import { open } from 'node:fs/promises'
import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { type EpisodeRecord, isMatchRecord, type SealedRecord } from '@episodic/protocol'
import { createGradableLines, type GradableLine } from '@episodic/report/grades/gradable-lines'
import type { GradedParts } from '@episodic/report/grades/graded-episode'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { HarnessError } from '@episodic/run/base/harness-error'
import { gradesFileOf } from '@episodic/run/folder/grades-file'
import { type RecordedLine, readLineAt, readRecorded, type SealedEpisodes } from '@episodic/run/folder/read-recorded'
import { assertVersion } from '../replay/replay-episode.ts'
import { playRecorded } from '../replay/replayed-step.ts'

export interface GradableRun extends AsyncDisposable {
  readonly name: string
  readonly gradesFile: string
  /** All lines, in the order of their draw. */
  readonly lines: readonly GradableLine[]
  read(line: GradableLine): Promise<GradableEpisode>
}

export interface GradableEpisode {
  readonly record: EpisodeRecord
  /** Its states, by replay. Throws as {@link statesOf}. */
  states(environment: EnvironmentDefinition): GradedParts['states']
}

/**
 * Opens the sealed lines of a run. It keeps some 400 bytes of each, and reads the line again for each verdict.
 *
 * Rejects with `run-invalid` for a line that is no episode, or that was changed after it was sealed.
 *
 * @param seat - whose play is graded; `undefined` for the first, or the only one.
 */
export async function openGradableRun(
  sealed: SealedEpisodes,
  seat: string | undefined,
  onTorn: (line: number) => void,
): Promise<GradableRun> {
  const collected = createGradableLines(seat)
  const places = new Map<string, Pick<RecordedLine, 'start' | 'bytes' | 'digest'>>()
  let name = sealed.manifest?.name ?? ''
  for await (const { record, whole, line, digest, start, bytes } of readRecorded(sealed.file, { onTorn })) {
    if (!whole)
      throw new HarnessError(
        'run-invalid',
        `${sealed.file}, line ${line} was changed after it was sealed, so verdicts on it would be of another episode. Replay the run to find out how.`,
      )
    places.set(collected.add(record), { digest, start, bytes })
    name ||= record.run
  }
  const lines = collected.list()
  const file = lines.length > 0 ? await open(sealed.file, 'r') : null
  return {
    name,
    gradesFile: gradesFileOf(sealed.folder),
    lines,
    async read(line) {
      const place = places.get(line.seal)
      if (!file || !place) throw new HarnessError('run-invalid', `${sealed.file} has no line ${line.seal}.`)
      const record: SealedRecord = await readLineAt(file, place)
      return {
        record: seatRecordOf(record, line.seat ?? undefined),
        states(environment) {
          assertVersion(environment, record)
          return statesOf(environment, record, isMatchRecord(record) ? line.seat : null)
        },
      }
    },
    [Symbol.asyncDispose]: async () => file?.close(),
  }
}

/**
 * Computes the states of an episode by its rules: at the start, and after each step of the seat. Throws
 * `replay-diverged` where a state differs from the recorded one, and what the rules throw.
 *
 * @param seat - whose steps they are; `null` for an environment of one seat.
 */
function statesOf(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  seat: string | null,
): GradedParts['states'] {
  const { params, seed, steps } = record
  const world = rehearse(environment, { params, seed })
  const start = world.state
  const states: GradedParts['states']['start'][] = []
  for (const [i, step] of steps.entries()) {
    playRecorded(world, record, i)
    if (world.stateHashAs(step.stateHash) !== step.stateHash)
      throw new HarnessError(
        'replay-diverged',
        `The state after step ${i} is not the recorded one, so no state can be graded. Replay the run to see why.`,
      )
    if (!('seat' in step) || step.seat === seat) states.push(world.state)
  }
  return { start, steps: states }
}
