import { isUtf8 } from 'node:buffer'
import { Bash, type ExecResult } from 'just-bash'
import type { VirtualClock } from '../clock/virtual-clock.ts'
import { DiskError, type EditedDisk } from '../disk/edited-disk.ts'
import { boundedIntegers, isKept } from './bounded-integers.ts'
import { decodedReads } from './decoded-reads.ts'
import { guardCommands } from './known-faults.ts'
import { MARK, markedRedirections } from './marked-redirections.ts'
import { ProgramFaults } from './programs.ts'
import { programsByPath } from './script-interpreters.ts'
import { ShellFs } from './shell-fs.ts'
import { type ShellChoice, shellParts } from './shell-parts.ts'

export interface ShellMemory {
  cwd: string
  variables: [name: string, value: string][]
}

export interface ShellTask extends ShellChoice {
  readonly memory: ShellMemory
  readonly stdin: string | null
}

/** Variables of the shell itself, which are not kept. */
const OWN = new Set(
  'IFS OSTYPE MACHTYPE HOSTTYPE HOSTNAME PWD OPTIND SHELLOPTS BASHOPTS ? PATH _ LINENO __proto__'.split(' '),
)

const DEFAULTS: Readonly<Record<string, string>> = { HOME: '/root', USER: 'root' }

/** Bytes that a command line may print: more than any agent reads, and than is kept. */
const MOST_OUTPUT = 1_048_576

/**
 * Runs a command line over a disk, in the directory and with the variables of the last one. Throws what a program of
 * the world throws.
 */
export async function runShell(
  disk: EditedDisk,
  script: string,
  { memory, stdin, ...choice }: ShellTask,
  clock: VirtualClock,
) {
  const faults = new ProgramFaults()
  const bash = new Bash({
    ...(await shellParts(choice, disk, clock, faults)),
    fs: new ShellFs(disk),
    cwd: memory.cwd,
    env: { ...DEFAULTS, ...Object.fromEntries(memory.variables) },
    processInfo: { uid: 0, gid: 0 },
    sleep: async (milliseconds) => clock.sleep(milliseconds),
    // Its deadline is in virtual time; the thread is ended in real time.
    executionLimits: { maxOutputSize: MOST_OUTPUT, maxExecutionTimeMs: Number.POSITIVE_INFINITY },
  })
  guardCommands(bash)
  // At its end the library takes a text such as é for bytes. What is printed as an error may have some.
  const logResult = (result: ExecResult) => ({ ...result, stderr: result.stderr.replace(BYTES, toLetters) })
  Object.assign(bash, { logResult })
  for (const plugin of [markedRedirections, programsByPath, boundedIntegers, decodedReads])
    bash.registerTransformPlugin(plugin)
  const result = await bash
    .exec(script, { rawScript: true, ...(stdin !== null && { stdin }) })
    .catch((error: Error) => {
      // A redirection that fails ends the command line.
      const said = error instanceof DiskError ? error.said : error.message
      return { stdout: '', stderr: `bash: ${said}\n`, exitCode: 1, env: bash.getEnv() }
    })
  faults.rethrow()
  const { stdout, stderr, exitCode, env } = result
  const variables = Object.entries(env)
    .filter(([name, value]) => !OWN.has(name) && !isKept(name) && DEFAULTS[name] !== value)
    .map(([name, value]): [string, string] => [name, value.toWellFormed()])
  return {
    stdout: stdout.toWellFormed(),
    stderr: stderr.replaceAll(MARK, '').toWellFormed(),
    exitCode,
    memory: { cwd: env.PWD ?? memory.cwd, variables },
  }
}

/** What may be the bytes of a letter, each as a letter. */
const BYTES = /[\xc2-\xf4][\x80-\xbf]{1,3}/g

function toLetters(said: string): string {
  const bytes = Buffer.from(said, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : said
}
