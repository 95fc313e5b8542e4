import { existsSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { z } from 'zod'
import { shownPath } from '../../base/console.ts'
import { HarnessError } from '../../base/harness-error.ts'
import { whyInvalid } from '../../base/json.ts'
import { isWithin } from '../../base/own-files.ts'
import { assertFiles, holdsRun, SET_FILE } from '../record/run-folder.ts'
import { holdsSet } from './holds-set.ts'

const withinSchema = z
  .string()
  .refine((path) => !isAbsolute(path) && !path.split(/[/\\]/).includes('..'), 'It leads out of the folder of the set.')

/** The content of `set.json`. A set is only a list: each of its members is a run of its own. */
const setSchema = z.object({
  format: z.literal(1),
  name: z.string(),
  /** ISO 8601. */
  createdAt: z.string(),
  /** How it was asked for, without secrets. Who plays it reads more of this. */
  asked: z.looseObject({ baseline: z.string() }),
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
          configuration: z.string(),
        }),
      ),
    }),
  ),
})
export type SetManifest = z.infer<typeof setSchema>

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
export async function findMembers(folder: string) {
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
