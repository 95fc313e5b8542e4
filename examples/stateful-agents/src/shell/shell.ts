import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { on, once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { findProgram } from '../find-program.ts'
import { isInside } from '../is-inside.ts'

/** The most characters of a command's output. */
const OUTPUT_LIMIT = 32_768
/** The time limit of a command in milliseconds. */
const TIME_LIMIT = 30_000
/** Characters to search for the end mark of a command: more than the longest path. */
const TAIL = 8_192

export interface CommandResult {
  /** The output of both streams. */
  readonly output: string
  readonly exitCode: number
  /** The working directory after it, in which the next one starts. */
  readonly folder: string
}

/** One shell for the whole session: the effects of `cd` and `export` stay for the next command. */
export interface Shell extends AsyncDisposable {
  /**
   * Runs a command after the earlier ones.
   *
   * Rejects when it takes too long, is aborted or ends the shell; the next command then starts in a new one.
   */
  run(command: string, signal: AbortSignal): Promise<CommandResult>
}

type Bash = ChildProcessByStdio<Writable, Readable, null>

/**
 * Opens a shell that works in a folder. It returns to that folder, but is not a sandbox: commands can do what their
 * user can.
 */
export function openShell(root: string): Shell {
  const program = findProgram(['bash'], 'bash')
  let bash: Bash | undefined
  let last: Promise<unknown> = Promise.resolve()

  const stop = async () => {
    const stopping = bash
    bash = undefined
    if (!stopping?.pid || stopping.exitCode !== null || stopping.signalCode !== null) return
    const exited = once(stopping, 'exit')
    // The whole group: a command that hangs would outlive its shell.
    process.kill(-stopping.pid, 'SIGKILL')
    await exited
  }

  const runNow = async (command: string, signal: AbortSignal): Promise<CommandResult> => {
    signal.throwIfAborted()
    bash ??= startBash(program, root)
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT)])
    try {
      const result = await ask(bash, command, limited)
      if (isInside(root, result.folder)) return result
      const back = await ask(bash, `cd ${quote(root)}`, limited)
      return {
        ...result,
        folder: back.folder,
        output: `${result.output}The shell stays in ${root}, and is back there.\n`,
      }
    } catch (cause) {
      await stop()
      const ended = limited.aborted
        ? `was stopped${signal.aborted ? '' : ` after ${TIME_LIMIT / 1_000} seconds`}`
        : 'ended the shell'
      throw new Error(
        `The command ${ended}. Its working directory and variables are gone; the next command starts in a new shell.`,
        { cause },
      )
    }
  }

  return {
    run(command, signal) {
      const result = last.then(() => runNow(command, signal))
      last = result.catch(() => {})
      return result
    },
    [Symbol.asyncDispose]: stop,
  }
}

function startBash(program: string, root: string): Bash {
  const bash = spawn(program, ['--noprofile', '--norc'], {
    cwd: root,
    // Without the server's environment, which may have keys.
    env: { PATH: process.env.PATH, HOME: root, TMPDIR: root, LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  bash.stdout.setEncoding('utf8')
  bash.stdin.on('error', () => {}) // It ended meanwhile, which the end of its output reports too.
  return bash
}

/** Runs a command in the shell, and reads up to the mark that is printed after it. */
async function ask(bash: Bash, command: string, signal: AbortSignal): Promise<CommandResult> {
  const mark = randomUUID()
  const report = String.raw`printf '\0%s %s %s\0' ${mark} "$?" "$(pwd -P)"`
  const chunks = on(bash.stdout, 'data', { signal, close: ['close'] })
  bash.stdin.write(`eval ${quote(command)} </dev/null 2>&1; ${report}\n`)
  let text = ''
  let cut = false
  for await (const [chunk] of chunks) {
    text += chunk
    const ended = endOf(text, mark)
    if (ended && !cut && ended.output.length <= OUTPUT_LIMIT) return ended
    if (ended) {
      const output = `${ended.output.slice(0, OUTPUT_LIMIT)}\nOnly the first ${OUTPUT_LIMIT} characters are shown.\n`
      return { ...ended, output }
    }
    if (text.length > OUTPUT_LIMIT + 2 * TAIL) {
      cut = true
      text = text.slice(0, OUTPUT_LIMIT) + text.slice(-TAIL)
    }
  }
  throw new Error('The shell ended.')
}

/** Splits the output at the mark, and parses the mark. */
function endOf(text: string, mark: string): CommandResult | undefined {
  const start = text.indexOf(`\0${mark} `)
  const end = text.indexOf('\0', start + 1)
  if (start < 0 || end < 0) return undefined
  const [, exitCode, ...folder] = text.slice(start + 1, end).split(' ')
  return { output: text.slice(0, start), exitCode: Number(exitCode), folder: folder.join(' ') }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
