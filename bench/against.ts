import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Command, runCommand } from '../scripts/run-command.ts'
import { root } from '../scripts/workspace.ts'
import { median, round2 } from './figures.ts'

const ROUNDS = 3
/** Folders of programs: those of this tree are played in both. */
const PROGRAMS = ['bench', 'chaos', 'interop', 'scripts']

/** A figure of both trees, medians over rounds, and the median of what each round's of this tree is to the other's. */
export interface Compared {
  readonly here: number
  readonly there: number
  readonly ratio: number
}

/** What is said of a comparison that cannot be made. */
class ComparisonError extends Error {}

/** Compares the figures of benchmarks in this tree with those of a commit, and resolves with the exit status. */
export async function compareWith(
  commit: string,
  benchmarks: ReadonlyMap<string, string>,
  { options, json }: { readonly options: readonly string[]; readonly json: boolean },
): Promise<number> {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const folder = mkdtempSync(join(tmpdir(), 'episodic-against-'))
  const tree = join(folder, 'tree')
  const run = async (command: Command, at = root) => {
    const { code, output } = await runCommand(command, { folder: at, signal: stop.signal })
    stop.signal.throwIfAborted()
    return { code, output }
  }
  try {
    const { code, output } = await run([
      'git',
      'rev-parse',
      '--short',
      '--verify',
      '--end-of-options',
      `${commit}^{commit}`,
    ])
    const name = output.trim()
    if (code !== 0)
      throw new ComparisonError(
        `There is no commit ${commit} here. Name a commit, a tag or a branch that this clone has.`,
      )
    say(`installing ${name} in ${tree}`)
    await mustRun(run, ['git', 'worktree', 'add', '--detach', tree, name])
    const { packageManager } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8'))
    await mustRun(run, ['npx', '--yes', packageManager, 'install', '--frozen-lockfile', '--prefer-offline'], tree)
    const programs = placePrograms(tree, join(folder, 'programs'))
    /** Benchmarks of which each tree's own program is played. */
    const own = new Set<string>()

    const rounds: Record<string, (readonly [object, object])[]> = {}
    for (let round = 1; round <= ROUNDS; round++)
      for (const [each, file] of benchmarks) {
        const play = async (of: string, folder: string) => {
          say(`round ${round} of ${ROUNDS}  ${each}, ${of}`)
          const { output } = await run(['node', '--expose-gc', join(folder, file), ...options], folder)
          return figuresIn(output) ?? output.trim().split('\n').slice(-5).join('\n')
        }
        const here = await play('this tree', join(root, 'bench'))
        if (typeof here === 'string') fail(`${each} does not run in this tree: ${here}`)
        let there = await play(name, own.has(each) ? join(tree, 'bench') : programs)
        if (typeof there === 'string' && round === 1) {
          say(`${each} of this tree does not run with the packages of ${name}, whose own is played`)
          own.add(each)
          there = await play(name, join(tree, 'bench'))
        }
        if (typeof there === 'string') fail(`${each} does not run in ${name}: ${there}`)
        rounds[each] = [...(rounds[each] ?? []), [here, there]]
      }

    const compared = Object.fromEntries(Object.entries(rounds).map(([each, pairs]) => [each, compareFigures(pairs)]))
    const alone = Object.entries(compared).flatMap(([each, { onlyHere, onlyThere }]) => [
      ...onlyHere.map((figure) => `${each}: only this tree has the figure ${figure}.`),
      ...onlyThere.map((figure) => `${each}: only ${name} has the figure ${figure}.`),
    ])
    const figures = Object.fromEntries(Object.entries(compared).map(([each, { both }]) => [each, both]))
    console.log(
      json
        ? JSON.stringify({ name: 'against', commit: name, rounds: ROUNDS, ownPrograms: [...own], figures })
        : tableOf(figures, name),
    )
    for (const line of alone) console.error(line)
    return alone.length > 0 ? 1 : 0
  } catch (error) {
    if (stop.signal.aborted) return 130
    if (!(error instanceof ComparisonError)) throw error
    console.error(error.message)
    return 2
  } finally {
    await runCommand(['git', 'worktree', 'remove', '--force', tree])
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    await runCommand(['git', 'worktree', 'prune'])
  }
}

/** Compares the figures of both trees, round by round: every number of the line that a benchmark ends with. */
export function compareFigures(rounds: readonly (readonly [here: object, there: object])[]) {
  const both: Record<string, Compared> = {}
  const [onlyHere, onlyThere] = [new Set<string>(), new Set<string>()]
  const read = rounds.map(([here, there]) => [numbersOf(here), numbersOf(there)] as const)
  for (const [here, there] of read) {
    for (const name of here.keys()) if (!there.has(name)) onlyHere.add(name)
    for (const name of there.keys()) if (!here.has(name)) onlyThere.add(name)
  }
  for (const name of read[0]?.[0].keys() ?? []) {
    if (onlyHere.has(name)) continue
    const [here, there] = [0, 1].map((tree) => read.map((pair) => pair[tree as 0 | 1].get(name) as number)) as [
      number[],
      number[],
    ]
    both[name] = {
      here: median(here),
      there: median(there),
      ratio: round2(median(here.map((value, i) => ratioOf(value, there[i] as number)))),
    }
  }
  return { both, onlyHere: [...onlyHere], onlyThere: [...onlyThere] }
}

/** Two figures that are 0 are the same. */
function ratioOf(here: number, there: number): number {
  return here === there ? 1 : here / there
}

function numbersOf(value: unknown, path = '', found = new Map<string, number>()): Map<string, number> {
  if (typeof value === 'number') found.set(path, value)
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) numbersOf(inner, path === '' ? key : `${path}.${key}`, found)
  return found
}

/**
 * Makes a folder in which the programs of this tree measure the packages of another: they are copied, and everything
 * else is a link into it. Returns its folder of benchmarks.
 */
function placePrograms(tree: string, folder: string): string {
  mkdirSync(folder)
  for (const entry of readdirSync(tree))
    if (!PROGRAMS.includes(entry)) symlinkSync(join(tree, entry), join(folder, entry))
  for (const name of PROGRAMS) {
    const filter = (file: string) => basename(file) !== 'node_modules'
    cpSync(join(root, name), join(folder, name), { recursive: true, filter })
    if (readdirSync(join(tree, name)).includes('node_modules'))
      symlinkSync(join(tree, name, 'node_modules'), join(folder, name, 'node_modules'))
  }
  return join(folder, 'bench')
}

/** Returns what the last line of an output says; `null` unless a benchmark has ended with it. */
function figuresIn(output: string): object | null {
  const line = output.split('\n').findLast((each) => each.startsWith('{"name":'))
  return line === undefined ? null : JSON.parse(line)
}

function tableOf(figures: Readonly<Record<string, Readonly<Record<string, Compared>>>>, commit: string): string {
  const rows = Object.entries(figures).flatMap(([name, compared]) =>
    Object.entries(compared).map(([figure, { here, there, ratio }]) => [`${name} ${figure}`, here, there, ratio]),
  )
  return [['figure', 'this tree', commit, 'ratio'], ...rows]
    .map(([first, ...rest]) => String(first).padEnd(48) + rest.map((cell) => String(cell).padStart(14)).join(''))
    .join('\n')
}

async function mustRun(
  run: (command: Command, folder?: string) => Promise<{ readonly code: number | null; readonly output: string }>,
  command: Command,
  folder?: string,
): Promise<void> {
  const { code, output } = await run(command, folder)
  if (code !== 0) fail(`${command.join(' ')} failed: ${output.trim()}`)
}

function fail(message: string): never {
  throw new ComparisonError(message)
}

function say(text: string): void {
  console.error(`  ${text}`)
}
