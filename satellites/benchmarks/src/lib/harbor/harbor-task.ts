import { createHash } from 'node:crypto'
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { createDisk, type Disk } from '@episodic/workspace'
import { parse } from 'smol-toml'
import { z } from 'zod'

/** A task of Harbor, as a machine without containers can hold it. */
export interface HarborTask {
  readonly name: string
  /** `instruction.md`, without the canary of the data set. */
  readonly prompt: string
  /** What the agent's computer begins with. */
  readonly disk: Disk
  readonly workdir: string
  readonly variables: Readonly<Record<string, string>>
  readonly tests: Disk
  /** The folder `solution`, at `/solution`; `null` without one. */
  readonly solution: Disk | null
  /** Seconds that the tests may take. */
  readonly seconds: number
  readonly network: boolean
}

const settings = z.object({
  task: z.object({ name: z.string() }).partial().default({}),
  steps: z.array(z.unknown()).default([]),
  environment: z
    .object({
      docker_image: z.string().optional(),
      workdir: z.string().optional(),
      env: z.record(z.string(), z.string()).default({}),
      mcp_servers: z.array(z.unknown()).default([]),
      network_mode: z.string().default('public'),
    })
    .prefault({}),
  verifier: z.object({ timeout_sec: z.number().default(600) }).prefault({}),
})

/** A task that cannot be played without containers, with the reasons. */
export class HarborTaskError extends Error {
  override readonly name = 'HarborTaskError'
}

/** What a line of `RUN` may do: install what the machine is to have, and nothing that leaves files of its own. */
const INSTALLS =
  /^(?:(?:sudo\s+)?(?:apt-get|apt|apk|dnf|yum)\s|(?:python3? -m )?pip3? install\s|rm -rf \/var\/(?:lib\/apt|cache))/

/** Returns the folders of the tasks in a folder, which may be one itself. Throws a `HarborTaskError` without any. */
export function listHarborTasks(folder: string): string[] {
  if (existsSync(join(folder, 'task.toml'))) return [folder]
  const found = globSync('*/task.toml', { cwd: folder }).sort()
  if (found.length === 0)
    throw new HarborTaskError(`${folder} is no task of Harbor and has none: there is no task.toml.`)
  return found.map((file) => join(folder, file, '..'))
}

/**
 * Reads a task. Of its Dockerfile, `WORKDIR`, `ENV`, `COPY` and `ADD` of its own files make the disk. The base image
 * and lines that install packages are what the machine has to have; nothing of them is run.
 *
 * Throws a `HarborTaskError` that says all that a task needs and a disk does not have.
 */
export function readHarborTask(folder: string): HarborTask {
  const missing: string[] = []
  const { task, steps, environment, verifier } = settings.parse(parse(readFileSync(join(folder, 'task.toml'), 'utf8')))
  const context = join(folder, 'environment')
  if (steps.length > 0) missing.push('[[steps]]')
  if (environment.mcp_servers.length > 0) missing.push('MCP servers')
  if (existsSync(join(context, 'docker-compose.yaml'))) missing.push('services of docker-compose.yaml')
  const built = readDockerfile(context, missing)
  if (!existsSync(join(folder, 'tests/test.sh'))) missing.push('a tests/test.sh')
  const name = task.name ?? basename(folder)
  if (missing.length > 0) throw new HarborTaskError(`${name} needs what is not here: ${missing.join('; ')}.`)
  const workdir = environment.workdir ?? built.workdir
  const solution = join(folder, 'solution')
  return {
    name,
    prompt: withoutCanary(readFileSync(join(folder, 'instruction.md'), 'utf8')),
    disk: createDisk({ [workdir]: { directory: true }, '/solution': { directory: true }, ...built.files }),
    workdir,
    variables: { ...built.variables, ...environment.env },
    tests: createDisk({ '/tests': { folder: join(folder, 'tests') } }),
    solution: existsSync(solution) ? createDisk({ '/solution': { folder: solution } }) : null,
    seconds: verifier.timeout_sec,
    network: environment.network_mode === 'public',
  }
}

/** Returns what changes when any file of the tasks does. */
export function digestOf(folders: readonly string[]): string {
  const digest = createHash('sha256')
  for (const folder of folders)
    for (const file of globSync('**/*', { cwd: folder }).sort())
      if (statSync(join(folder, file)).isFile()) digest.update(`${file}\0`).update(readFileSync(join(folder, file)))
  return digest.digest('hex').slice(0, 12)
}

type NewFiles = Record<string, { readonly folder: string } | { readonly content: Uint8Array; readonly mode: number }>

/** Reads what a Dockerfile puts on a disk, and adds to `missing` what it does beside. */
function readDockerfile(context: string, missing: string[]) {
  const files: NewFiles = {}
  const variables: Record<string, string> = {}
  let workdir = '/'
  const file = join(context, 'Dockerfile')
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const lines = text
    .replaceAll(/^\s*#.*\n?/gm, '')
    .replaceAll(/\\\r?\n/g, ' ')
    .split('\n')
  for (const line of lines) {
    const [, word = '', rest = ''] = /^\s*(\w+)\s+(.*?)\s*$/.exec(line) ?? []
    const expanded = (value: string) => value.replaceAll(/\$\{?(\w+)\}?/g, (_, name) => variables[name] ?? '')
    switch (word.toUpperCase()) {
      case 'WORKDIR':
        workdir = posix.resolve(workdir, expanded(rest))
        break
      case 'ENV':
        for (const [, name = '', quoted, bare] of rest.matchAll(/(\w+)(?:=|\s+)(?:"([^"]*)"|(\S+))/g))
          variables[name] = expanded(quoted ?? bare ?? '')
        break
      case 'COPY':
      case 'ADD':
        if (!copy(rest.split(/\s+/), posix.resolve(workdir, expanded(rest.split(/\s+/).at(-1) ?? ''))))
          missing.push(line)
        break
      case 'RUN':
        for (const part of rest.split(/&&|;/).map((each) => each.trim())) {
          const [, made] = /^mkdir (?:-p )?(\S+)$/.exec(part) ?? []
          if (made) files[`${posix.resolve(workdir, made)}/.keep`] = { content: new Uint8Array(), mode: 0o644 }
          else if (part !== '' && !INSTALLS.test(part)) missing.push(`RUN ${part}`)
        }
    }
  }
  return { files, variables, workdir }

  function copy(words: readonly string[], target: string): boolean {
    const sources = words.slice(0, -1)
    if (sources.length === 0 || words.some((word) => word.startsWith('--') || /^https?:/.test(word))) return false
    for (const source of sources) {
      const found = source.includes('*') ? globSync(source, { cwd: context }) : [source]
      for (const name of found) {
        const from = join(context, name)
        if (!from.startsWith(context) || !existsSync(from)) return false
        if (statSync(from).isDirectory()) {
          // Of a directory, its content is copied.
          for (const inner of readdirSync(from)) if (!put(join(from, inner), posix.join(target, inner))) return false
          continue
        }
        const isFolder = words.at(-1)?.endsWith('/') || /^\.{1,2}$/.test(words.at(-1) ?? '') || sources.length > 1
        put(from, isFolder || found.length > 1 ? posix.join(target, basename(name)) : target)
      }
    }
    return true
  }

  function put(from: string, path: string): boolean {
    const stats = statSync(from)
    if (!stats.isDirectory() && !stats.isFile()) return false
    files[path] = stats.isDirectory() ? { folder: from } : { content: readFileSync(from), mode: stats.mode & 0o755 }
    return true
  }
}

function withoutCanary(text: string): string {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => !/canary/i.test(line) && !/^\s*$/.test(line))
  return lines.slice(Math.max(0, first)).join('\n')
}
