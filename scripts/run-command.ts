import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { root } from './workspace.ts'

/** A program and its arguments, as one would type them at the root of the workspace. */
export type Command = readonly [program: string, ...args: string[]]

export interface CommandResult {
  /** The exit code, or `null` when the program was stopped or could not be started. */
  readonly code: number | null
  /** What it wrote to stdout and stderr, in the order in which it arrived. */
  readonly output: string
}

const binaries = join(root, 'node_modules', '.bin')

/** Programs of Node start faster with the code that an earlier start has compiled. */
const { NODE_COMPILE_CACHE = join(root, 'node_modules', '.cache', 'compiled') } = process.env

/**
 * Runs a program to its end and returns what it said; a failing or missing program is a result, not an error.
 * `env` is added to the variables of this process. `onOutput` gets what it writes as it comes.
 *
 * The program leads a process group of its own, so an abort of `signal` stops whatever it started as well.
 */
export function runCommand(
  [program, ...args]: Command,
  {
    folder = root,
    signal,
    env = {},
    onOutput,
  }: {
    folder?: string
    signal?: AbortSignal
    env?: NodeJS.ProcessEnv
    onOutput?: (text: string) => void
  } = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        PATH: `${binaries}${delimiter}${process.env.PATH}`,
        TURBO_TELEMETRY_DISABLED: '1',
        FORCE_COLOR: '0',
        NO_COLOR: '1',
        NODE_COMPILE_CACHE,
        ...env,
      },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        onOutput?.(text)
      })
    }
    const stop = () => stopGroup(child.pid)
    const finish = (code: number | null) => {
      signal?.removeEventListener('abort', stop)
      resolve({ code, output })
    }
    child.on('error', (cause) => {
      output += `${program} could not be started: ${cause.message}\n`
      finish(null)
    })
    child.on('close', finish)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

function stopGroup(leader: number | undefined): void {
  if (leader === undefined) return
  try {
    process.kill(-leader, 'SIGTERM')
  } catch {
    // The group has ended by itself in the meantime.
  }
}
