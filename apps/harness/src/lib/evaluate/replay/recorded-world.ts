import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadToReplay } from '@episodic/mcp-server/internal'
import { loadWorld, locateByName, SHELVES, type World } from '@episodic/play/worlds/world'
import { shownPath } from '@episodic/run/base/console'
import { HarnessError } from '@episodic/run/base/harness-error'
import { hashModule } from '@episodic/run/folder/plan/content-hash'
import type { SealedEpisodes } from '@episodic/run/folder/read-recorded'
import { isOwnRun } from '@episodic/run/folder/record/run-folder'

/**
 * Loads the world of a run. If a command of this user made the run, in this folder, that is the module that `run.json`
 * names, or, if that file is gone, the name or package that the run was given. Of any other run, nothing that it names
 * is executed: its world is one of its name under `worlds/` or `examples/` of the working folder, or one of the
 * classics, or the module that it names if that is in one of these folders. A module that has changed since is loaded
 * and reported to `warn`.
 *
 * Throws `world-not-found`, with a suggestion for `--world` if there is one, `world-invalid`, and `not-replayable` if
 * another system's server has the rules.
 *
 * @param given - the world to load in its place; `undefined` for the one that the run names.
 */
export function loadRecordedWorld(
  run: SealedEpisodes,
  given: string | undefined,
  warn: (notice: string) => void,
): Promise<World> {
  // What its definition asked outside, it is not to ask again: the server may be gone, or list other tools.
  return loadToReplay(run.name, run.manifest?.sources?.world?.madeOf ?? null, () => load(run, given, warn))
}

async function load(
  { folder, name, manifest }: SealedEpisodes,
  given: string | undefined,
  warn: (notice: string) => void,
): Promise<World> {
  const sources = manifest?.sources
  if (given !== undefined && sources?.world !== null) return loadWorld(given)
  if (!sources) return byOwnName(name, `There is no world "${name}".`)
  if (!sources.world)
    throw new HarnessError(
      'not-replayable',
      `The run of ${name} was played on a server of another system, which keeps the rules and the state. Its report, a comparison and an export can be made without them.`,
    )
  const { reference, file, sha256 } = sources.world
  const recorded = resolve(folder, file)
  const isOwn = await isOwnRun(folder)
  const world = await (existsSync(recorded) && (isOwn || isOnShelf(recorded))
    ? loadWorld(recorded)
    : isOwn
      ? byName(
          isPath(reference) ? null : reference,
          name,
          `This run was played in the world at ${shownPath(recorded)}, which no longer exists.`,
        )
      : byOwnName(
          name,
          `This run was played in the world at ${shownPath(recorded)}. No command of yours made the run in this folder, so what it names is not executed. If you trust that module, give --world ${shownPath(recorded)}.`,
        ))
  const module = fileURLToPath(world.url)
  if ((await hashModule(module)) !== sha256)
    warn(`${shownPath(module)} has changed since this run was played: its SHA-256 differs.`)
  return world
}

async function byOwnName(name: string, problem: string): Promise<World> {
  const file = locateByName(name)
  return file === null ? byName(null, name, problem) : loadWorld(file)
}

function isOnShelf(file: string): boolean {
  return SHELVES.some((shelf) => existsSync(shelf) && realpathSync(file).startsWith(`${realpathSync(shelf)}${sep}`))
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

function candidatesFor(name: string): string[] {
  return SHELVES.filter((shelf) => existsSync(shelf)).flatMap((shelf) =>
    readdirSync(shelf)
      .filter((entry) => entry.replace(/\.[cm]?[jt]s$/, '') === name)
      .map((entry) => join(shelf, entry)),
  )
}
