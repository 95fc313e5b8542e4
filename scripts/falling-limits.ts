import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './workspace.ts'

// A limit only falls: compares each number of `limits.ts` with the lowest that it has had since this check exists,
// along the first parents of HEAD. A new limit is free. One that is gone needs that what it limits is gone.
//
//   node scripts/falling-limits.ts

const LIMITS_FILE = 'scripts/limits.ts'
const THIS_FILE = 'scripts/falling-limits.ts'

/** Limits of what is gone, each by its path with what is gone. Of a package it is seen by its folder. */
const GONE: Readonly<Record<string, string>> = {}

/** Says that `verify` skips the check. */
const SKIPPED = 77

/** What a comparison with earlier versions found. */
export interface FallingLimits {
  /** A sentence for each limit that was raised or dropped. */
  readonly problems: readonly string[]
  /** How many earlier versions were compared; 0 without a history. */
  readonly versions: number
  /** Whether the history is cut off, so that older versions may be missing. */
  readonly isShallow: boolean
}

/**
 * Compares the limits of a folder with their earlier versions in its git history.
 *
 * @param folder The root of a repository; without git, nothing is compared.
 * @param gone Limits that may be missing, by path.
 */
export async function compareLimits(folder: string, gone = GONE): Promise<FallingLimits> {
  const versions = listVersions(folder)
  const lowest = new Map<string, { most: number; commit: string }>()
  for (const commit of versions) {
    for (const [path, most] of await readLimits(git(folder, 'show', `${commit}:${LIMITS_FILE}`)))
      if (most < (lowest.get(path)?.most ?? Number.POSITIVE_INFINITY)) lowest.set(path, { most, commit })
  }
  const now = await importLimits(join(folder, LIMITS_FILE))
  const problems = [...lowest].flatMap(([path, { most, commit }]) => {
    const today = now.get(path)
    if (today === undefined) return isGone(folder, path, gone) ? [] : [dropped(path, most)]
    return today > most ? [raised(path, today, most, commit)] : []
  })
  const isShallow = versions.length > 0 && git(folder, 'rev-parse', '--is-shallow-repository') === 'true'
  return { problems, versions: versions.length, isShallow }
}

function raised(path: string, today: number, most: number, commit: string): string {
  return (
    `${path} is ${today} and was ${most} (${commit.slice(0, 10)}). A limit only falls: take away what the addition ` +
    'replaces, or leave the addition out (REVIEW.md).'
  )
}

function dropped(path: string, most: number): string {
  return (
    `${path}, which was ${most}, is no limit any more. A limit goes with what it limits: if that is gone, name it in ` +
    `GONE of ${THIS_FILE}.`
  )
}

/** Lists the commits whose limits count: the one that brought this check, and those that changed them later. */
function listVersions(folder: string): string[] {
  const commits = (...args: string[]) => {
    try {
      return git(folder, 'log', '--first-parent', '--format=%H', ...args)
        .split('\n')
        .filter(Boolean)
    } catch {
      return [] // No git, no repository, or no commit yet.
    }
  }
  const first = commits('--diff-filter=A', '--', THIS_FILE).at(-1)
  // Until the check is committed, the last commit is all that there is to compare with.
  return first ? [...commits(`${first}..HEAD`, '--', LIMITS_FILE), first] : commits('-1', '--', LIMITS_FILE)
}

function isGone(folder: string, path: string, gone: Readonly<Record<string, string>>): boolean {
  const packageFolder = /^linesOfAPackage\.most\.(.+)$/.exec(path)?.[1]
  return packageFolder ? !existsSync(join(folder, packageFolder)) : path in gone
}

/** Reads the numbers of the text of a version. */
async function readLimits(text: string): Promise<ReadonlyMap<string, number>> {
  const temporary = await mkdtemp(join(tmpdir(), 'episodic-limits-'))
  try {
    await writeFile(join(temporary, 'limits.ts'), text)
    return await importLimits(join(temporary, 'limits.ts'))
  } finally {
    await rm(temporary, { recursive: true })
  }
}

async function importLimits(file: string): Promise<ReadonlyMap<string, number>> {
  const { LIMITS } = await import(pathToFileURL(file).href)
  return new Map(numbersOf(LIMITS, ''))
}

/** Yields each number of an object with its path: `trips.http.hops`. */
function* numbersOf(value: unknown, path: string): Generator<[string, number]> {
  if (typeof value === 'number') yield [path, value]
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) yield* numbersOf(inner, path === '' ? key : `${path}.${key}`)
}

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}

if (import.meta.main) {
  const { problems, versions, isShallow } = await compareLimits(root)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
  else if (versions === 0) process.exitCode = SKIPPED
  console.log(
    versions === 0
      ? 'There is no git history here, so the limits were compared with nothing.'
      : `The limits were compared with ${versions} earlier versions: ${problems.length} problems.`,
  )
  if (isShallow) console.log('The history is shallow: versions before its first commit were not compared.')
}
