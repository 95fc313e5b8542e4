import { Bash, type InMemoryFs } from 'just-bash'
import type { VirtualClock } from '../clock/virtual-clock.ts'
import type { Disk } from '../disk/disk.ts'
import type { EditedDisk } from '../disk/edited-disk.ts'
import { entryFor } from '../disk/file-content.ts'
import { commands, type Language } from './commands.ts'
import { ShellFs } from './shell-fs.ts'

/** What a shell keeps from one command to the next. */
export interface ShellMemory {
  readonly cwd: string
  readonly variables: readonly (readonly [name: string, value: string])[]
}

export interface ShellResult {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  readonly memory: ShellMemory
}

/** Variables of the shell itself, which are not kept. */
const OWN = new Set(
  'IFS OSTYPE MACHTYPE HOSTTYPE HOSTNAME PWD OPTIND SHELLOPTS BASHOPTS ? PATH _ LINENO __proto__'.split(' '),
)

/** Bytes that a command line may print: more than any agent reads, and than is kept. */
const MOST_OUTPUT = 1_048_576

/** Runs a command line over a disk, in the directory and with the variables of the last one. */
export async function runShell(
  disk: EditedDisk,
  script: string,
  { memory, stdin, languages }: { memory: ShellMemory; stdin: string | null; languages: readonly Language[] },
  clock: VirtualClock,
): Promise<ShellResult> {
  const bash = new Bash({
    fs: new ShellFs(disk),
    cwd: memory.cwd,
    env: { HOME: '/root', USER: 'root', ...Object.fromEntries(memory.variables) },
    processInfo: { uid: 0, gid: 0 },
    sleep: async (milliseconds) => clock.sleep(milliseconds),
    customCommands: commands(languages, clock),
    javascript: languages.includes('javascript') && { bootstrap: bootstrap(clock) },
    python: languages.includes('python'),
    executionLimits: { maxOutputSize: MOST_OUTPUT },
  })
  const result = await bash
    .exec(script, { rawScript: true, ...(stdin !== null && { stdin }) })
    .catch((error: Error) => ({ stdout: '', stderr: `bash: ${error.message}\n`, exitCode: 1, env: bash.getEnv() }))
  const { stdout, stderr, exitCode, env } = result
  const variables = Object.entries(env).filter(([name]) => !OWN.has(name))
  return { stdout, stderr, exitCode, memory: { cwd: env.PWD ?? memory.cwd, variables } }
}

/**
 * Returns what the JavaScript engine runs first. Its own generator is seeded by the time alone, so this one takes its
 * place (mulberry32); and its console prints nothing for `undefined`.
 */
function bootstrap(clock: VirtualClock): string {
  const seed = Math.floor(clock.random() * 2 ** 32)
  return `{
    let s = ${seed}
    const random = () => {
      s = (s + 0x6d2b79f5) | 0
      let t = imul(s ^ (s >>> 15), 1 | s)
      t = (t + imul(t ^ (t >>> 7), 61 | t)) ^ t
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296
    }
    const { imul } = Math
    globalThis.Math = Object.defineProperties({}, {
      ...Object.getOwnPropertyDescriptors(Math),
      random: { value: random, writable: true, configurable: true },
    })
    for (const name of ['log', 'info', 'warn', 'error', 'debug']) {
      const print = console[name]
      if (print) console[name] = (...values) => print(...values.map((each) => (each === undefined ? 'undefined' : each)))
    }
  }`
}

/** Directories of the shell's own, which are on no disk. */
export const SYSTEM = ['/bin', '/dev', '/proc', '/usr/bin']

const systems = new Map<string, Promise<Disk>>()

/**
 * Returns what is in the directories of the shell's own, where `ls` and `which` find the commands.
 */
export function systemDisk(languages: readonly Language[], clock: VirtualClock): Promise<Disk> {
  const key = languages.join()
  const known = systems.get(key) ?? readSystem(languages, clock)
  systems.set(key, known)
  return known
}

async function readSystem(languages: readonly Language[], clock: VirtualClock): Promise<Disk> {
  const { fs } = new Bash({
    customCommands: commands(languages, clock),
    javascript: languages.includes('javascript'),
    python: languages.includes('python'),
  })
  const disk: Disk = {}
  for (const path of (fs as InMemoryFs).getAllPaths()) {
    if (!/^\/(bin|dev|proc|usr)(\/|$)/.test(path)) continue
    const stat = await fs.lstat(path)
    if (stat.isDirectory) disk[path] = { kind: 'directory' }
    else if (stat.isSymbolicLink) disk[path] = { kind: 'link', target: await fs.readlink(path) }
    else disk[path] = { ...entryFor(await fs.readFile(path)), mode: path.startsWith('/dev/') ? 0o666 : 0o755 }
  }
  return disk
}
