import { existsSync } from 'node:fs'
import { readOrigins } from '@episodic/continue/origin/origins-file'
import type { Parent, Point } from '@episodic/continue/run/parent'
import { tasksOf } from '@episodic/play/play/plan/plan'
import { loadWorld } from '@episodic/play/worlds/world'
import type { SealedRecord, Task } from '@episodic/protocol'
import { commandLine, shownPath } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { gradesFileOf, readGrades } from '@episodic/run/folder/grades-file'
import { matchingLines } from '@episodic/run/folder/matching-lines'
import { findSealed, readRecorded } from '@episodic/run/folder/read-recorded'
import { seatOf } from '@episodic/run/folder/seat-of'
import { findDataset } from '../replay/open-plan.ts'
import { loadRecordedWorld } from '../replay/recorded-world.ts'

/**
 * Opens a run whose episodes are to be continued. Its world is loaded by the rules of a replay. Rejects with
 * `run-invalid`, `not-replayable` if another system's server has the rules, `not-forkable` if one has the state and
 * there is no recording of it, `version-mismatch`, and as `loadRecordedWorld` does.
 *
 * @param given - the world to load in place of the one that the run names.
 */
export async function openParent(
  run: string,
  given: string | undefined,
  warn: (notice: string) => void,
): Promise<Parent> {
  const sealed = await findSealed(run)
  const { folder, manifest } = sealed
  if (!manifest)
    throw new HarnessError(
      'run-invalid',
      `${shownPath(run)} is a file of lines, which does not say how they were played. Give the folder of the run.`,
    )
  const { name, version } = manifest.configuration.environment
  let world = await loadRecordedWorld(sealed, given, warn)
  if (!world.environment.forkable) {
    const recording = `${name}.recording.jsonl`
    if (!existsSync(recording))
      throw new HarnessError(
        'not-forkable',
        `A server outside keeps the state of ${name}, so no step of it can be put back. Its answers are in the run: \`${commandLine(['record', run])}\` writes them to ${recording}, from which it is then continued. Calls that no episode made there have no answer.`,
      )
    warn(`A server outside keeps the state of ${name}: what it answered is read from ${recording}.`)
    world = await loadWorld(recording)
  }
  if (world.environment.name !== name || world.environment.version !== version)
    throw new HarnessError(
      'version-mismatch',
      `${shownPath(run)} was played in ${name} ${version}, and the world here is ${world.environment.name} ${world.environment.version}. Continue it with the recorded version, or play it again.`,
    )
  return { folder, manifest, world, origins: await readOrigins(folder) }
}

/**
 * Returns the episodes of a run that match a query, in the order of their lines. Rejects with `query-invalid`, with
 * `option-invalid` if there are none, and as {@link withTasks} does.
 */
export async function findEpisodes(parent: Parent, query: string, dataset?: string) {
  const { folder, manifest } = parent
  const { file } = await findSealed(folder)
  const grades = await readGrades(gradesFileOf(folder))
  const lines = await matchingLines({ file, grades, seat: seatOf(manifest.configuration) }, `${query} counts:yes`)
  const records: SealedRecord[] = []
  for await (const { record, line } of readRecorded(file)) if (lines.has(line)) records.push(record)
  if (records.length === 0) throw invalidOption(`No episode in ${shownPath(folder)} matches ${query}.`)
  return withTasks(parent, records, dataset)
}

/**
 * Returns episodes of a run, each with its task. Rejects with `dataset-invalid` for one whose task is not known any
 * more.
 *
 * @param dataset - the file of the tasks, if it has moved.
 */
export async function withTasks(
  { folder, manifest, world, origins }: Parent,
  records: readonly SealedRecord[],
  dataset?: string,
): Promise<Omit<Point, 'step'>[]> {
  const { configuration } = manifest
  const ids = new Set(records.map(({ task }) => task.id))
  const found = new Map<string, Task>()
  for (const { task } of origins.values()) if (task) found.set(task.id, task)
  if (!configuration.continues) {
    const at = await findDataset({ folder, manifest }, dataset)
    if ('unknown' in at) throw new HarnessError('dataset-invalid', at.unknown)
    for await (const task of tasksOf({ ...configuration, tasks: at.tasks }, world)) {
      if (ids.has(task.id)) found.set(task.id, task)
      if (found.size === ids.size) break
    }
  }
  return records.map((record) => {
    const task = found.get(record.task.id)
    if (task) return { record, task }
    throw new HarnessError(
      'dataset-invalid',
      `The tasks of ${shownPath(folder)} have changed: task ${record.task.id} is not among them. Name the file of its tasks with --dataset.`,
    )
  })
}
