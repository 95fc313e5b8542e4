import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { findTestPrograms } from '../test-programs.ts'
import { root } from '../workspace.ts'

// Which packages have passed their tests as they are. The task `test` of `turbo.json` says what the tests of a package
// depend on: its files, its packages, and files elsewhere that they read. One run of vitest tests all packages that
// have changed, since a run for each would import the same modules again and again.

/** For each kind of tests, the packages that passed, with the digest of what they depend on. */
type Passed = Readonly<Record<string, Readonly<Record<string, string>>>>
const PASSED = join(root, 'node_modules/.cache/passed-tests.json')

/** A package of the workspace, and what its tests depend on. */
export interface TestedPackage {
  readonly name: string
  /** From the root: `packages/state`. */
  readonly folder: string
  /** Of everything that its tests depend on. */
  readonly digest: string
  /** The files that its tests depend on, from the root, without those of the packages that it uses. */
  readonly inputs: readonly string[]
  /** The folders of the packages that it uses, directly or through others. */
  readonly uses: readonly string[]
}

/** Lists all packages; none if turbo does not run here. */
export function listTested(): TestedPackage[] {
  const { status, stdout } = spawnSync('turbo', ['run', 'test', '--dry=json'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1e9,
    env: {
      ...process.env,
      PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}`,
      TURBO_TELEMETRY_DISABLED: '1',
    },
  })
  if (status !== 0) return []
  const { tasks } = JSON.parse(stdout) as { tasks: readonly Task[] }
  const byId = new Map(tasks.map((task) => [task.taskId, task]))
  const machine = `${process.version} ${Object.values(findTestPrograms(false))}`
  return tasks.map((task) => {
    const used = [...usedBy(task, byId)].sort((a, b) => (a.taskId < b.taskId ? -1 : 1))
    // The hash of a task changes with every package that the root uses, which is any of them.
    const files = [task, ...used].map(({ inputs, hashOfExternalDependencies }) => [inputs, hashOfExternalDependencies])
    return {
      name: task.package,
      folder: task.directory,
      digest: createHash('sha256')
        .update(JSON.stringify([machine, files]))
        .digest('hex'),
      inputs: Object.keys(task.inputs).map((file) => relative(root, join(root, task.directory, file))),
      uses: used.map(({ directory }) => directory),
    }
  })
}

/** A task in the JSON of turbo. */
interface Task {
  readonly taskId: string
  readonly package: string
  readonly directory: string
  /** The hash of each file, by its path from the package. */
  readonly inputs: Readonly<Record<string, string>>
  readonly hashOfExternalDependencies: string
  readonly dependencies: readonly string[]
}

function usedBy({ dependencies }: Task, byId: ReadonlyMap<string, Task>, found = new Set<Task>()): Set<Task> {
  for (const id of dependencies) {
    const used = byId.get(id)
    if (!used || found.has(used)) continue
    found.add(used)
    usedBy(used, byId, found)
  }
  return found
}

/** Returns the packages whose tests of a kind passed before, with everything that they depend on as it is now. */
export function listUnchanged(kind: string, packages: readonly TestedPackage[]): TestedPackage[] {
  const passed = readPassed()[kind] ?? {}
  return packages.filter(({ name, digest }) => passed[name] === digest)
}

/** Notes that the tests of these packages passed. */
export function notePassed(kind: string, packages: readonly TestedPackage[]): void {
  const passed = readPassed()
  const added = Object.fromEntries(packages.map(({ name, digest }) => [name, digest]))
  mkdirSync(dirname(PASSED), { recursive: true })
  writeFileSync(PASSED, JSON.stringify({ ...passed, [kind]: { ...passed[kind], ...added } }))
}

function readPassed(): Passed {
  try {
    return JSON.parse(readFileSync(PASSED, 'utf8'))
  } catch {
    return {}
  }
}
