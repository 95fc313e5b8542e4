import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { OriginLine } from '@episodic/continue/origin/origins-file'
import type { World } from '@episodic/play/worlds/world'
import { shownPath } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { hashFile } from '@episodic/run/folder/plan/content-hash'
import type { RunManifest } from '@episodic/run/folder/record/run-folder'
import { type RecordedPlan, readRecordedPlan } from './recorded-plan.ts'

type OpenedPlan =
  | { readonly plan: RecordedPlan; readonly unknown: null }
  | { readonly plan: undefined; readonly unknown: string }

interface PlannedRun {
  readonly folder: string
  readonly manifest: RunManifest
  readonly world: World
  readonly origins: ReadonlyMap<string, OriginLine>
}

/**
 * Computes the plan of a run again: with its world's generator, or from its file of tasks, which `run.json` names.
 *
 * @param dataset - that file, if it has moved. Throws `option-invalid` if its content differs, or if the run had none.
 */
export async function openPlan(
  { folder, manifest, world, origins }: PlannedRun,
  dataset: string | undefined,
): Promise<OpenedPlan> {
  const { configuration } = manifest
  const { tasks, environment, curriculum } = configuration
  if (dataset !== undefined && tasks.from !== 'dataset')
    throw invalidOption(
      '--dataset is only for runs of a dataset, and the tasks of this run were generated. Leave it out.',
    )
  // The first line, if there is one, fails with `version-mismatch`.
  if (world.environment.name !== environment.name || world.environment.version !== environment.version)
    return { plan: undefined, unknown: `The run was of ${environment.name} ${environment.version}.` }
  if (curriculum?.kind === 'adaptive')
    return {
      plan: undefined,
      unknown: 'It was recorded with an adaptive plan, which was removed; its lines can still be read.',
    }
  if (configuration.continues || tasks.from === 'generator')
    return { plan: await readRecordedPlan(manifest, world, origins), unknown: null }
  const found = await findDataset({ folder, manifest }, dataset)
  if ('unknown' in found) return { plan: undefined, ...found }
  const placed = { ...manifest, configuration: { ...configuration, tasks: found.tasks } }
  return { plan: await readRecordedPlan(placed, world, origins), unknown: null }
}

/** Returns the tasks of a run with the file in which they are now, or why that is not known. */
export async function findDataset(
  { folder, manifest: { configuration, sources } }: Pick<PlannedRun, 'folder' | 'manifest'>,
  dataset: string | undefined,
): Promise<{ readonly tasks: RunManifest['configuration']['tasks'] } | { readonly unknown: string }> {
  const { tasks } = configuration
  if (tasks.from !== 'dataset') return { tasks }
  const places = [sources?.dataset && resolve(folder, sources.dataset), resolve(tasks.file)]
  const file = dataset ?? places.find((place) => place && existsSync(place))
  if (!file)
    return { unknown: `The tasks of this run were in ${tasks.file}, which no longer exists. Name it with --dataset.` }
  if ((await hashFile(file)) !== tasks.sha256) {
    if (dataset !== undefined)
      throw invalidOption(`--dataset ${dataset} is not the dataset of this run: its SHA-256 differs.`)
    return {
      unknown: `The tasks of this run were in ${shownPath(file)}, which has changed since. Name it with --dataset.`,
    }
  }
  return { tasks: { ...tasks, file } }
}
