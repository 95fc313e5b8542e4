import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { canonicalJson, contentId } from '@episodic/protocol'
import { guaranteesSchema } from '@episodic/report/fold/summary'
import { z } from 'zod'
import { shownPath } from '../../base/console.ts'
import { HarnessError } from '../../base/harness-error.ts'
import { whyInvalid } from '../../base/json.ts'
import { writeWhole } from '../../base/own-files.ts'
import { isOwnJson, markedJson } from '../../base/own-mark.ts'
import { VERSION } from '../../base/own-package.ts'
import { assertSame, configurationSchema, countLeaves, type RunConfiguration } from '../plan/configuration.ts'
import { sourcesSchema } from '../plan/sources.ts'
import { TRANSCRIPTS } from './recording.ts'

export const runManifestSchema = z.object({
  format: z.literal(1),
  name: z.string(),
  /** ISO 8601. */
  createdAt: z.string(),
  scheduled: z.int().min(0),
  configuration: configurationSchema,
  versions: z.record(z.string(), z.string()),
  /** How the run was played. It does not affect what was played. */
  played: z.object({
    /** `queue` if the workers of a queue play, each over its own. */
    transport: z.string(),
    /** Left out if the workers of a queue play, which have their own, and come and go. */
    concurrency: z.int().optional(),
    processes: z.int().optional(),
    /** The own name of the policy or agent, as in its sealed lines. */
    player: z.string().optional(),
    /** What lines keep of what language models were sent and said; left out if none was asked. */
    transcript: z.enum(TRANSCRIPTS).optional(),
    /**
     * The options of how language models are asked, as words of a command line, without keys; left out if none was
     * asked.
     */
    modelOptions: z.array(z.string()).optional(),
    guarantees: guaranteesSchema.optional(),
  }),
  sources: sourcesSchema.optional(),
})
export type RunManifest = z.infer<typeof runManifestSchema>

export const RUN_FILES = {
  manifest: 'run.json',
  episodes: 'episodes.jsonl',
  /** Of a run that goes on from others: the lines that it continues, with their tasks. */
  origins: 'origins.jsonl',
  summary: 'summary.json',
  report: 'report.html',
  grades: 'grades.jsonl',
  gradeSummary: 'grades.json',
  /** An empty file, locked by the process that writes to the folder. */
  lock: 'run.lock',
  /** What a viewer knows of the sealed episodes. May be deleted. */
  index: 'episodes.idx',
  /** A folder: what language models answered in the episodes that are not sealed yet. */
  answers: 'answers',
  stop: 'stopped.json',
  /** The episodes that are being played, while a process plays them. */
  live: 'live.json',
  /** The episodes among them whose steps a viewer follows, and these steps. */
  asked: 'live-asked.json',
  steps: 'live-steps.json',
  /** Where the time of steps over a connection went. */
  times: 'times.json',
  anchors: 'anchors.json',
} as const

/** The file that makes a folder that of a set, two levels above its runs. */
export const SET_FILE = 'set.json'

const ID_DIGITS = 10

/** Returns the id of a run: the same after its folder is moved or renamed, and after the run is resumed. */
export function runIdOf({ name, createdAt, configuration }: Pick<RunManifest, 'name' | 'createdAt' | 'configuration'>) {
  const identity = { name, createdAt, configuration: configurationSchema.parse(configuration) }
  return contentId(canonicalJson(JSON.parse(JSON.stringify(identity)))).slice(0, ID_DIGITS)
}

export function holdsRun(folder: string): boolean {
  return existsSync(join(folder, RUN_FILES.manifest))
}

/** Rejects with `run-invalid` if what a folder has under a name is no file: reading a pipe may never end. */
export async function assertFiles(folder: string, names: Iterable<string>): Promise<void> {
  for (const name of names) {
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    if (found && !found.isFile() && !(name === RUN_FILES.answers && found.isDirectory()))
      throw new HarnessError('run-invalid', `${path} is not a file, and nothing of its folder is read.`)
  }
}

/** Reads the manifest of a run. Rejects with `run-invalid` for none, and if a file of the run cannot be read. */
export async function readManifest(folder: string): Promise<RunManifest> {
  const file = join(folder, RUN_FILES.manifest)
  if (!existsSync(file))
    throw new HarnessError('run-invalid', `${folder} holds no run: there is no ${RUN_FILES.manifest} in it.`)
  await assertFiles(folder, Object.values(RUN_FILES))
  try {
    return runManifestSchema.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (cause) {
    throw new HarnessError('run-invalid', `${file} cannot be read as a run: ${whyInvalid(cause)}`, { cause })
  }
}

export async function isOwnRun(folder: string): Promise<boolean> {
  try {
    await assertFiles(folder, [RUN_FILES.manifest])
    return await isOwnJson(folder, RUN_FILES.manifest, await readFile(join(folder, RUN_FILES.manifest), 'utf8'))
  } catch {
    return false
  }
}

export function writeRunFile(folder: string, name: string, text: string): Promise<string> {
  return writeWhole(join(folder, name), text)
}

/**
 * Resolves with a folder, or with the same followed by `-2`, `-3` and so on if it holds a run that was played to its
 * end: nothing is overwritten. A run that misses episodes keeps its place, for it may be resumed.
 */
export async function freeFolder(folder: string): Promise<string> {
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? folder : `${folder}-${count}`
    if (!holdsRun(candidate) || !(await isComplete(candidate))) return candidate
  }
}

/** Whether all episodes were sealed, by the summary that a run writes whenever it stops in an orderly way. */
export async function isComplete(folder: string): Promise<boolean> {
  try {
    await assertFiles(folder, [RUN_FILES.summary])
    return JSON.parse(await readFile(join(folder, RUN_FILES.summary), 'utf8')).counts.unresolved === 0
  } catch {
    return false
  }
}

export function defaultFolder(run: Pick<RunConfiguration, 'environment' | 'policy' | 'seats' | 'seed'>): string {
  const { environment, policy, seats = { '': policy }, seed } = run
  const policies = new Set(Object.values(seats).map(({ name }) => shortName(name)))
  return join('runs', [environment.name, ...policies, seed].join('-').replace(/[^\w.-]+/g, '-'))
}

/** Shortens a command or a path to its first words, without folders, and a hash that keeps names distinct. */
export function shortName(policy: string): string {
  if (/^(\w+:)?[\w.-]{1,32}$/.test(policy)) return policy
  const words = policy.replaceAll(/[^\s:]*\//g, '').replaceAll(/[^\w.]+/g, '-')
  return `${words.slice(0, 32).replace(/-+$/, '')}-${hash('sha256', policy).slice(0, 6)}`
}

/**
 * Resolves with the manifest of the run to resume; `null` if a new run is to be created.
 *
 * Rejects with `run-invalid` if there is no run to resume, `run-mismatch` if its configuration differs, and
 * `run-exists` if there is a run and `resume` is false.
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
    `${shown} holds this run already. Give --resume to play its missing episodes, or another --out.`,
  )
}

/** Creates a run in a folder by writing its manifest. From then on it can be resumed. */
export async function createRun(
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
  // What it names is executed only if a command of this user wrote it.
  await writeRunFile(folder, RUN_FILES.manifest, await markedJson(folder, RUN_FILES.manifest, manifest))
  return manifest
}
