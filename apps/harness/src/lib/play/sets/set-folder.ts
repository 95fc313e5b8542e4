import { existsSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { writeTasks } from '@episodic/dataset/jsonl'
import { z } from 'zod'
import { shownPath } from '../../base/console.ts'
import { HarnessError } from '../../base/harness-error.ts'
import { whyInvalid } from '../../base/json.ts'
import { isWithin, makeFolder } from '../../base/own-files.ts'
import { hashFile } from '../../run-folder/plan/content-hash.ts'
import { assertFiles, holdsRun, SET_FILE, writeRunFile } from '../../run-folder/record/run-folder.ts'
import { tasksOf } from '../plan/plan.ts'
import { type AskedSet, askedSchema, configurationId, type SetMember, type SetWorld } from './set-plan.ts'

/** A path within the folder of the set. */
const withinSchema = z
  .string()
  .refine((path) => !isAbsolute(path) && !path.split(/[/\\]/).includes('..'), 'It leads out of the folder of the set.')

/** The content of `set.json`. A set is only a list: each of its members is a run of its own. */
const setSchema = z.object({
  format: z.literal(1),
  name: z.string(),
  /** ISO 8601. */
  createdAt: z.string(),
  /** How it was asked for, without secrets. */
  asked: askedSchema,
  worlds: z.array(
    z.object({
      environment: z.object({ name: z.string(), version: z.string() }),
      /** The file of its tasks, which all of its members play, and its SHA-256. */
      tasks: z.object({ file: withinSchema, sha256: z.string(), count: z.int() }),
      members: z.array(
        z.object({
          player: z.string(),
          /** The folder of the run, relative to that of the set. */
          run: withinSchema,
          /** Identifies the configuration of the run alone. */
          configuration: z.string(),
        }),
      ),
    }),
  ),
})
export type SetManifest = z.infer<typeof setSchema>

export function holdsSet(folder: string): boolean {
  return existsSync(join(folder, SET_FILE))
}

/** Reads the manifest of a set. Rejects with `run-invalid` if it cannot be read, or if a run of it lies elsewhere. */
export async function readSet(folder: string): Promise<SetManifest> {
  const file = join(folder, SET_FILE)
  try {
    await assertFiles(folder, [SET_FILE])
    const set = setSchema.parse(JSON.parse(await readFile(file, 'utf8')))
    for (const { tasks } of set.worlds) await assertFiles(folder, [tasks.file])
    const root = await realpath(folder)
    for (const { run } of set.worlds.flatMap(({ members }) => members)) {
      const place = join(folder, run)
      if (existsSync(place) && !(await isWithin(place, root)))
        throw new Error(`${run} is a link out of the folder of the set.`)
    }
    return set
  } catch (cause) {
    const problem = `${shownPath(file)} cannot be read as a set of runs`
    throw new HarnessError('run-invalid', `${problem}: ${whyInvalid(cause)}`, { cause })
  }
}

/**
 * Returns the runs of a set by world with their players, the baseline first, if the folder is that of a set or of one
 * of its worlds; `null` otherwise. Rejects with `run-invalid`.
 */
export async function findMembers(
  folder: string,
): Promise<{ world: string; members: { player: string; folder: string }[] }[] | null> {
  const path = resolve(folder)
  const set = holdsSet(path) ? path : holdsSet(dirname(path)) ? dirname(path) : null
  if (set === null) return null
  const { worlds, asked } = await readSet(set)
  const listed = worlds.map(({ environment, members }) => {
    const [first] = members.filter(({ player }) => player === asked.baseline)
    const ordered = first ? [first, ...members.filter((member) => member !== first)] : members
    return { world: environment.name, members: ordered.map(({ player, run }) => ({ player, folder: join(set, run) })) }
  })
  return set === path ? listed : listed.filter(({ members }) => members.some(({ folder }) => dirname(folder) === path))
}

/**
 * Returns the folders of the runs of a set, or of one of its worlds, that were played, and reports the others to
 * `warn`; `null` for any other folder. Rejects with `run-invalid`, also if none was played yet.
 */
export async function findPlayedMembers(folder: string, warn: (notice: string) => void): Promise<string[] | null> {
  const worlds = holdsRun(folder) ? null : await findMembers(folder)
  if (!worlds) return null
  const members = worlds.flatMap((world) => world.members.map(({ folder }) => folder))
  const { played = [], left = [] } = Object.groupBy(members, (run) => (holdsRun(run) ? 'played' : 'left'))
  for (const run of left) warn(`${shownPath(run)} was not played yet, and is left out.`)
  if (played.length > 0) return played.map(shownPath)
  throw new HarnessError(
    'run-invalid',
    `${shownPath(resolve(folder))} is a set of which nothing was played yet. Play it with episodic run --resume.`,
  )
}

/**
 * Creates the folder of a set with the tasks of each world, or finds it there to be resumed. Resolves with its worlds,
 * whose members play the tasks of the folder. The limits of this start are those of the next.
 *
 * Rejects with `run-exists`; with `run-invalid` if there is nothing to resume or the tasks were changed; with
 * `run-mismatch` if the folder holds another set; and with `disk-failed`.
 */
export async function openSet(
  folder: string,
  asked: AskedSet,
  planned: readonly SetWorld[],
  { resume, signal }: { readonly resume: boolean; readonly signal: AbortSignal },
): Promise<SetWorld[]> {
  if (holdsSet(folder)) {
    if (!resume)
      throw new HarnessError(
        'run-exists',
        `${shownPath(folder)} holds this set already. Give --resume ${shownPath(folder)} to play its missing episodes, or another --set.`,
      )
    const set = await readSet(folder)
    const { worlds } = set
    assertSame(folder, worlds, planned)
    for (const { tasks } of worlds)
      if ((await hashFile(join(folder, tasks.file))) !== tasks.sha256)
        throw new HarnessError(
          'run-invalid',
          `${shownPath(join(folder, tasks.file))} has changed since the set was created, so its players would not play the same.`,
        )
    const { costLimit, tokenLimit, timeLimit } = asked.settings
    const kept = { ...set.asked, settings: { ...set.asked.settings, costLimit, tokenLimit, timeLimit } }
    if (JSON.stringify(kept) !== JSON.stringify(set.asked)) await writeSet(folder, { ...set, asked: kept })
    return planned.map((world, i) => withTasks(folder, world, worlds[i]?.tasks.sha256 ?? ''))
  }
  if (resume) throw new HarnessError('run-invalid', `${shownPath(folder)} holds no set to resume.`)
  const opened: SetWorld[] = []
  const written: SetManifest['worlds'] = []
  makeFolder(folder)
  for (const world of planned) {
    const [{ prepared, configuration }] = world.members as [SetMember, ...SetMember[]]
    const tasks = tasksOf(configuration, prepared.world, { signal })
    const { sha256, count } = await writeTasks(join(folder, world.file), tasks, { signal })
    written.push({
      environment: world.environment,
      tasks: { file: world.file, sha256, count },
      members: toMembers(world),
    })
    opened.push(withTasks(folder, world, sha256))
  }
  // A retry is of one start of the set. A token is a secret, and a URL may hold one.
  const { token: _, url: __, retryFailed: ___, queue: ____, lease: _____, ...settings } = asked.settings
  const manifest: SetManifest = {
    format: 1,
    name: basename(folder),
    createdAt: new Date().toISOString(),
    asked: { ...asked, settings },
    worlds: written,
  }
  await writeSet(folder, manifest)
  return opened
}

async function writeSet(folder: string, set: SetManifest): Promise<void> {
  await writeRunFile(folder, SET_FILE, `${JSON.stringify(set, null, 2)}\n`)
}

/** Makes the members of a world play the tasks of the set's file. */
function withTasks(folder: string, world: SetWorld, sha256: string): SetWorld {
  const file = join(folder, world.file)
  const members = world.members.map((member) => {
    const { split } = member.configuration.tasks
    const tasks = { from: 'dataset', file, sha256, split } as const
    return { ...member, configuration: { ...member.configuration, tasks } }
  })
  return { ...world, members }
}

function toMembers({ members }: SetWorld): SetManifest['worlds'][number]['members'] {
  return members.map(({ player, run, configuration }) => ({
    player: player.name,
    run,
    configuration: configurationId(configuration),
  }))
}

/** Throws `run-mismatch` if a folder holds another set. */
function assertSame(folder: string, kept: SetManifest['worlds'], planned: readonly SetWorld[]): void {
  const linesOf = (world: string, members: SetManifest['worlds'][number]['members']) =>
    members.map(({ player, configuration }) => `${player} in ${world}, configuration ${configuration.slice(0, 6)}`)
  const was = kept.flatMap(({ environment, members }) => linesOf(environment.name, members))
  const is = planned.flatMap((world) => linesOf(world.environment.name, toMembers(world)))
  const differences = [
    ...was.filter((line) => !is.includes(line)).map((line) => `was: ${line}`),
    ...is.filter((line) => !was.includes(line)).map((line) => `now: ${line}`),
  ]
  if (differences.length === 0 && was.length === is.length) return
  throw new HarnessError('run-mismatch', [
    `${shownPath(folder)} holds another set:`,
    ...differences.map((line) => `  ${line}`),
    `Resume it with --resume ${shownPath(folder)} alone, or give another --set.`,
  ])
}
