import { existsSync, readdirSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { shownPath } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { loadWorld, SHELVES, type World } from '../world.ts'
import type { RunConfiguration } from './configuration.ts'
import { hashFile } from './hash-file.ts'

/**
 * The files that a run was played from. Paths are relative to the folder of the run, so that a project can be moved as a
 * whole; they use forward slashes. They are absolute only where the file is on another drive.
 */
export const sourcesSchema = z.object({
  world: z.object({
    /** The name, path or package that the world was given by. */
    reference: z.string(),
    /** The module that it was loaded from. */
    file: z.string(),
    /** Of that module alone, not of what it imports. */
    sha256: z.string(),
  }),
  /** The file of tasks; `null` where they were generated. */
  dataset: z.string().nullable(),
})
export type Sources = z.infer<typeof sourcesSchema>

/** Describes the files that a run is played from, for its `run.json`. */
export async function describeSources(
  runFolder: string,
  reference: string,
  world: Pick<World, 'url'>,
  { tasks }: Pick<RunConfiguration, 'tasks'>,
): Promise<Sources> {
  const file = fileURLToPath(world.url)
  const pathTo = (path: string) => relative(runFolder, resolve(path)).replaceAll('\\', '/')
  return {
    world: { reference, file: pathTo(file), sha256: await hashFile(file) },
    dataset: tasks.from === 'dataset' ? pathTo(tasks.file) : null,
  }
}

/** What is known of a run that a world is wanted for. */
export interface RecordedRun {
  /** The folder of the run. */
  readonly folder: string
  /** Left out by runs that were played before it was recorded. */
  readonly sources: Sources | undefined
  /** The name of the environment. */
  readonly name: string
}

/**
 * Loads the world that a run was played in: from the module that `run.json` names; where that is gone, by the name or
 * package that the run was given. A module that has changed since is loaded, and reported to `warn`.
 *
 * Throws `world-not-found`, naming `--world` and what it may be, and `world-invalid`.
 */
export async function loadRecordedWorld(
  { folder, sources, name }: RecordedRun,
  warn: (notice: string) => void,
): Promise<World> {
  if (!sources) return byName(name, name, `There is no world "${name}".`)
  const { reference, file, sha256 } = sources.world
  const recorded = resolve(folder, file)
  const world = existsSync(recorded)
    ? await loadWorld(recorded)
    : await byName(isPath(reference) ? null : reference, name, goneNotice(recorded))
  const module = fileURLToPath(world.url)
  if ((await hashFile(module)) !== sha256)
    warn(`${shownPath(module)} is not what it was when this run was played: its SHA-256 differs.`)
  return world
}

function goneNotice(file: string): string {
  return `This run was played in the world at ${shownPath(file)}, and there is no such file now.`
}

async function byName(reference: string | null, name: string, problem: string): Promise<World> {
  try {
    if (reference !== null) return await loadWorld(reference)
  } catch (cause) {
    if (!HarnessError.is(cause, 'world-not-found')) throw cause
  }
  const [likely] = candidatesFor(name)
  const hint = likely ? ` Did you mean --world ${likely}?` : ''
  throw new HarnessError('world-not-found', `${problem} Name the world of the run with --world.${hint}`)
}

function isPath(reference: string): boolean {
  return isAbsolute(reference) || /^\.{0,2}[/\\]|\.[cm]?[jt]sx?$/.test(reference) || existsSync(reference)
}

/** Worlds here that are called like an environment. */
function candidatesFor(name: string): string[] {
  return SHELVES.filter((shelf) => existsSync(shelf)).flatMap((shelf) =>
    readdirSync(shelf)
      .filter((entry) => entry.replace(/\.[cm]?[jt]s$/, '') === name)
      .map((entry) => join(shelf, entry)),
  )
}
