import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { HarnessError } from '../harness-error.ts'
import { configurationSchema } from './configuration.ts'
import { sourcesSchema } from './sources.ts'

/** What `run.json` says of a run. */
export const runManifestSchema = z.object({
  format: z.literal(1),
  name: z.string(),
  /** ISO 8601. */
  createdAt: z.string(),
  /** Episodes that the plan holds. */
  scheduled: z.int().min(0),
  configuration: configurationSchema,
  versions: z.record(z.string(), z.string()),
  /** Where the worlds were played. Says nothing about what is played. */
  played: z.object({
    transport: z.string(),
    concurrency: z.int(),
    processes: z.int().default(1),
    /** The name that the policy or agent gives itself, and that its sealed lines have. */
    player: z.string().optional(),
  }),
  sources: sourcesSchema.optional(),
})
export type RunManifest = z.infer<typeof runManifestSchema>

/** The files of a run. */
export const RUN_FILES = {
  manifest: 'run.json',
  episodes: 'episodes.jsonl',
  summary: 'summary.json',
  report: 'report.html',
  /** Empty; whoever writes to the folder holds it. */
  lock: 'run.lock',
} as const

export function holdsRun(folder: string): boolean {
  return existsSync(join(folder, RUN_FILES.manifest))
}

/** Reads a run's manifest. Throws `run-invalid` for a folder that holds none, or one that was not written by this. */
export async function readManifest(folder: string): Promise<RunManifest> {
  const file = join(folder, RUN_FILES.manifest)
  if (!existsSync(file))
    throw new HarnessError('run-invalid', `${folder} holds no run: there is no ${RUN_FILES.manifest} in it.`)
  try {
    return runManifestSchema.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message
    throw new HarnessError('run-invalid', `${file} cannot be read as a run: ${why}`, { cause })
  }
}

/** Writes a file of a run whole or not at all. Throws `disk-failed`. */
export async function writeRunFile(folder: string, name: string, text: string): Promise<string> {
  const file = join(folder, name)
  try {
    await mkdir(folder, { recursive: true })
    await writeFile(`${file}.part`, text)
    await rename(`${file}.part`, file)
  } catch (cause) {
    await rm(`${file}.part`, { force: true }).catch(() => {})
    throw new HarnessError('disk-failed', `Cannot write ${file}: ${(cause as Error).message}`, { cause })
  }
  return file
}
