import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { World } from '../worlds/world.ts'
import type { ServedWorlds } from './serve-worlds.ts'

const PAGE = new URL('../../docs/play/python.md', import.meta.url)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Packages whose programs stand on the page. */
export const PAGE_PACKAGES: readonly string[] = ['mcp', 'fastmcp']

/**
 * Runs the program of the Python page that uses a package, as the page says: against a server over HTTP, and with a
 * server that it starts. Resolves with what went wrong, one text for each run that failed.
 */
export async function playPage(
  packageName: string,
  python: string,
  world: World,
  served: ServedWorlds,
): Promise<readonly string[]> {
  const programs = [...(await readFile(PAGE, 'utf8')).matchAll(/^```py\n(.*?)^```$/gms)].map(
    ([, text]) => text as string,
  )
  const program = programs.find((text) => text.includes(`from ${packageName} import Client`))
  if (program === undefined) return [`docs/play/python.md has no program that imports Client from ${packageName}.`]
  const folder = await mkdtemp(join(tmpdir(), 'episodic-page-'))
  const file = join(folder, 'play.py')
  await writeFile(file, program)
  const problems: string[] = []
  const { place, received } = served.overHttp(world)
  for (const [transport, argument] of [
    ['HTTP', 'url' in place ? place.url : ''],
    ['stdio', ROOT.replace(/\/$/, '')],
  ] as const) {
    const problem = await run(python, [file, argument])
    if (problem !== null)
      problems.push(`The program of docs/play/python.md with ${packageName} over ${transport}: ${problem}`)
  }
  // The record is of this program: the cells that follow begin with none.
  await received()
  await rm(folder, { recursive: true })
  return problems
}

/** Runs a program that prints observations of number-guessing. Resolves with what went wrong. */
async function run(python: string, args: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(python, args)
    return /\d+ guesses left[\s\S]*(higher|lower|correct)/.test(stdout) ? null : `it printed:\n${stdout}`
  } catch (error) {
    return (error as { stderr?: string }).stderr || (error as Error).message
  }
}
