import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { shownPath } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { hashFile } from '../run/hash-file.ts'
import type { RunManifest } from '../run/run-folder.ts'
import type { World } from '../world.ts'
import { type RecordedPlan, recordedPlanOf } from './recorded-plan.ts'

/** The plan of a run, or why it cannot be recomputed. */
export type OpenedPlan =
  | { readonly plan: RecordedPlan; readonly unknown: null }
  | { readonly plan: undefined; readonly unknown: string }

/**
 * Makes the plan of a run anew: by its world's generator, or from the file of tasks that it was played from, which is looked
 * for where `run.json` says.
 *
 * @param dataset - that file, where it is somewhere else now. Throws `option-invalid` where it is not the same, and where the run had none.
 */
export async function openPlan(
  { folder, manifest, world }: { readonly folder: string; readonly manifest: RunManifest; readonly world: World },
  dataset: string | undefined,
): Promise<OpenedPlan> {
  const { configuration, sources } = manifest
  const { tasks, environment } = configuration
  if (dataset !== undefined && tasks.from !== 'dataset')
    throw new HarnessError('option-invalid', '--dataset has no use here: the tasks of this run were generated.')
  // Said of the first line, where there is one.
  if (world.environment.name !== environment.name || world.environment.version !== environment.version)
    return { plan: undefined, unknown: `The run was of ${environment.name} ${environment.version}.` }
  if (tasks.from === 'generator') return { plan: await recordedPlanOf(manifest, world), unknown: null }
  const places = [sources?.dataset && resolve(folder, sources.dataset), resolve(tasks.file)]
  const file = dataset ?? places.find((place) => place && existsSync(place))
  if (!file)
    return { plan: undefined, unknown: `The tasks of this run were in ${tasks.file}, and there is no such file now.` }
  if ((await hashFile(file)) !== tasks.sha256) {
    if (dataset !== undefined)
      throw new HarnessError(
        'option-invalid',
        `--dataset ${dataset} is not what this run was played from: its SHA-256 differs.`,
      )
    return { plan: undefined, unknown: `The tasks of this run were in ${shownPath(file)}, which has changed since.` }
  }
  const found = { ...manifest, configuration: { ...configuration, tasks: { ...tasks, file } } }
  return { plan: await recordedPlanOf(found, world), unknown: null }
}
