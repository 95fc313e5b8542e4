import { basename } from 'node:path'
import { shownPath } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { VERSION } from '../version.ts'
import { assertSame, type RunConfiguration } from './configuration.ts'
import { countLeaves } from './count-leaves.ts'
import { holdsRun, RUN_FILES, type RunManifest, readManifest, writeRunFile } from './run-folder.ts'

/**
 * The run that is there to be resumed; `null` where one is to begin.
 *
 * Throws `run-invalid` where there is none to resume, `run-mismatch`, and `run-exists`.
 */
export async function findRun(
  folder: string,
  configuration: RunConfiguration,
  resume: boolean,
): Promise<RunManifest | null> {
  const shown = shownPath(folder)
  if (!holdsRun(folder)) {
    if (resume) throw new HarnessError('run-invalid', `${shown} holds no run to resume.`)
    return null
  }
  const manifest = await readManifest(folder)
  assertSame(manifest.configuration, configuration, shown)
  if (resume) return manifest
  throw new HarnessError(
    'run-exists',
    `${shown} holds this run already. Give --resume to play what it lacks, or another --out.`,
  )
}

/** Begins a run in a folder: from here on it can be resumed. */
export async function beginRun(
  folder: string,
  configuration: RunConfiguration,
  count: number,
  { played, sources }: Pick<RunManifest, 'played' | 'sources'>,
): Promise<RunManifest> {
  const manifest: RunManifest = {
    format: 1,
    name: basename(folder),
    createdAt: new Date().toISOString(),
    scheduled: count * configuration.rollouts * countLeaves(configuration.branch),
    configuration,
    versions: { episodic: VERSION, node: process.version },
    played,
    sources,
  }
  await writeRunFile(folder, RUN_FILES.manifest, `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}
