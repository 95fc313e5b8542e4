/**
 * `pnpm bench`: runs every benchmark, `pnpm bench <name> [options]`: one, with options of its own. Each ends with one
 * line of JSON, its figures. `pnpm bench <name> --help` says what it measures, and its options.
 */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { basename, join, relative } from 'node:path'
import { LACKS_PROGRAM } from './needs.ts'

const files = new Map(
  globSync('*/*.bench.ts', { cwd: import.meta.dirname }).map((file) => [
    basename(file, '.bench.ts'),
    join(import.meta.dirname, file),
  ]),
)
const names = [...files.keys()].sort()
const given = process.argv.slice(2)
const against = takeAgainst(given)
const firstOption = given.findIndex((argument) => argument.startsWith('-'))
const asked = firstOption < 0 ? given : given.slice(0, firstOption)
const options = given.slice(asked.length)
const unknown = asked.filter((name) => !files.has(name))
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. There is: ${names.join(', ')}.`)
  process.exit(2)
}
if (options.includes('--help')) {
  console.log(asked.length > 0 ? asked.map(helpOf).join('\n\n') : usage())
  process.exit()
}
for (const name of asked.length > 0 ? asked : names)
  for (const option of options.filter((word) => word.startsWith('-')).map((word) => word.split('=')[0] as string))
    if (option !== '--json' && !helpOf(name).includes(`${option} `)) {
      console.error(`${name} has no option ${option}. pnpm bench ${name} --help says which it has.`)
      process.exit(2)
    }
console.error(
  `${availableParallelism()} cores of ${cpus()[0]?.model}, Node ${process.version}, load ${loadavg()
    .map((load) => load.toFixed(2))
    .join(' ')}`,
)
if (against === null) process.exitCode = runAll()
else {
  const { compareWith } = await import('./against.ts')
  const compared = new Map(
    (asked.length > 0 ? asked : names).map((name) => [name, relative(import.meta.dirname, fileOf(name))]),
  )
  const passedOn = options.filter((option) => option !== '--json')
  process.exitCode = await compareWith(against, compared, { options: passedOn, json: options.includes('--json') })
}

/** Takes `--against <commit>` out of the arguments. */
function takeAgainst(args: string[]): string | null {
  const at = args.indexOf('--against')
  if (at < 0) return null
  const [, commit] = args.splice(at, 2)
  if (commit !== undefined && !commit.startsWith('-')) return commit
  console.error('--against needs a commit: pnpm bench --against HEAD~1 http')
  process.exit(2)
}

/** Runs benchmarks one after the other, and returns the status to exit with. */
function runAll(): number {
  const statuses = new Set<number>()
  // A process each, so that none inherits another's heap or compiled code.
  for (const name of asked.length > 0 ? asked : names) {
    const { status } = spawnSync(process.execPath, ['--expose-gc', fileOf(name), ...options], { stdio: 'inherit' })
    statuses.add(status === 0 || status === 2 || status === LACKS_PROGRAM ? status : 1)
  }
  return [2, 1].find((status) => statuses.has(status)) ?? (statuses.has(0) ? 0 : LACKS_PROGRAM)
}

function usage(): string {
  return `Usage: pnpm bench [name…] [options]
       pnpm bench --against <commit> [name…] [options]

Runs the named benchmarks, or all of them: ${names.join(', ')}.

pnpm bench <name> --help says what one measures, and its options.

With --against, each is played in this tree and in a commit's in turn, three times, and every figure is printed with its medians and the
ratio of this tree's to the other's; --json prints one line. The commit is installed in a temporary folder, which is removed. The programs of this
tree measure both, so that a figure means the same. Where they do not run with the other's packages, each tree's own programs do, which is said;
a figure that only one tree has is an error.

Exits with 0, with 1 if a figure misses its bar or a benchmark crashes, with 2 if an option is wrong, and with ${LACKS_PROGRAM} if no
benchmark could run because this machine lacks a program: each says which one it needs.`
}

/** The comment at the head of a benchmark. */
function helpOf(name: string): string {
  const [, comment = ''] = /^\/\*\*(.*?)\*\//s.exec(readFileSync(fileOf(name), 'utf8')) ?? []
  return `${name}\n\n${comment.replace(/^ \* ?/gm, '').trim()}`
}

function fileOf(name: string): string {
  return files.get(name) as string
}
