import { accessSync, constants, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The programs of the system that tests start, each with the Debian package that has it. */
export const TEST_PROGRAMS = {
  bwrap: 'bubblewrap',
  chromium: 'chromium',
  initdb: 'postgresql',
  openssl: 'openssl',
  pgrep: 'procps',
  ps: 'procps',
  'redis-server': 'redis-server',
  strace: 'strace',
} as const

export type TestProgram = keyof typeof TEST_PROGRAMS

/** The path of each program; `null` for one that is not installed. A test that needs one of those is skipped. */
export type FoundPrograms = Readonly<Record<TestProgram, string | null>>

declare module 'vitest' {
  interface ProvidedContext {
    programs: FoundPrograms
  }
}

/**
 * Looks for the programs on `PATH`, and says on stderr which are missing and how to install them. `CHROMIUM_PATH` names
 * a Chromium elsewhere.
 *
 * @param required - throws if one is missing. CI requires all, so that nothing is skipped there.
 */
export function findTestPrograms(required: boolean): FoundPrograms {
  const names = Object.keys(TEST_PROGRAMS) as TestProgram[]
  const found = Object.fromEntries(names.map((name) => [name, findProgram(name)])) as FoundPrograms
  const missing = names.filter((name) => found[name] === null)
  if (missing.length === 0) return found
  const packages = new Set(missing.map((name) => TEST_PROGRAMS[name]))
  const message = `${missing.join(', ')} not found. To install: apt-get install ${[...packages].join(' ')}`
  if (required) throw new Error(message)
  process.stderr.write(`Tests that need these programs are skipped: ${message}\n`)
  return found
}

/** Looks for a program on `PATH`. `null` if it is not installed. */
export function findProgram(name: TestProgram): string | null {
  const { CHROMIUM_PATH } = process.env
  if (name === 'chromium' && CHROMIUM_PATH) return canRun(CHROMIUM_PATH) ? CHROMIUM_PATH : null
  return (
    foldersOf(name)
      .map((folder) => join(folder, name))
      .find(canRun) ?? null
  )
}

function foldersOf(name: TestProgram): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  // Debian keeps the programs of PostgreSQL's server out of PATH, and has a wrapper there that starts them.
  const hasWrapper = name === 'initdb' && folders.some((folder) => canRun(join(folder, 'pg_ctlcluster')))
  return hasWrapper ? [...folders, ...globSync('/usr/lib/postgresql/*/bin')] : folders
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
