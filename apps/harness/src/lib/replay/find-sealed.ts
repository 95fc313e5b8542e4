import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HarnessError } from '../harness-error.ts'
import { summarySchema } from '../report/fold/summary.ts'
import { RUN_FILES, type RunManifest, readManifest } from '../run/run-folder.ts'
import { readRecorded } from './read-recorded.ts'

/** Sealed episodes that are to be replayed. */
export interface SealedEpisodes {
  /** Their file, which a run that has sealed none yet may lack. */
  readonly file: string
  /** Of their world. */
  readonly name: string
  /** The folder of the run; that of the file, for lines alone. */
  readonly folder: string
  /** `null` for a file of lines alone. */
  readonly manifest: RunManifest | null
  /** Its summary says that every scheduled episode was sealed. */
  readonly complete: boolean
}

/** Finds the sealed episodes of a run's folder, or of a file of them alone. Throws `run-invalid`. */
export async function findSealed(run: string): Promise<SealedEpisodes> {
  if (!existsSync(run)) throw new HarnessError('run-invalid', `There is no run at ${run}.`)
  if (statSync(run).isDirectory()) {
    const manifest = await readManifest(run)
    const { name } = manifest.configuration.environment
    return { file: join(run, RUN_FILES.episodes), name, folder: run, manifest, complete: wasComplete(run) }
  }
  for await (const { record } of readRecorded(run))
    return { file: run, name: record.environment.name, folder: dirname(run), manifest: null, complete: false }
  throw new HarnessError('run-invalid', `${run} holds no episode.`)
}

/** Every sitting of a run ends with a summary, so that one without was stopped before. */
function wasComplete(folder: string): boolean {
  try {
    const summary = summarySchema.parse(JSON.parse(readFileSync(join(folder, RUN_FILES.summary), 'utf8')))
    return summary.counts.unresolved === 0
  } catch {
    return false
  }
}
