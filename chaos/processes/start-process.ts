import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A process of this machine that can be killed, frozen and woken. */
export interface Killable extends AsyncDisposable {
  readonly pid: number
  /** What it wrote to its standard error last. */
  readonly said: string
  /** Resolves with its exit status once it is gone; `null` if a signal ended it. */
  readonly exited: Promise<number | null>
  signal(signal: NodeJS.Signals): void
  /** Sends a question on its standard input. */
  write(line: string): void
  /** The next line of its standard output. Rejects if it ends first. */
  line(): Promise<string>
}

/** Starts a program. Disposing kills it. */
export function startProcess(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Killable {
  const child: ChildProcess = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
  })
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('exit', resolve)
    child.once('error', reject)
  })
  exited.catch(() => {})
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-8_000)
  })
  child.stdin?.on('error', () => {})
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  return {
    pid: child.pid ?? 0,
    get said() {
      return said
    },
    exited,
    signal: (signal) => void child.kill(signal),
    write: (line) => void child.stdin?.write(`${line}\n`),
    async line() {
      const { value, done } = await lines.next()
      if (done) throw new Error(`${command} ${args.join(' ')} ended: ${said.trim()}`)
      return value
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        // A frozen process dies of it too.
        await gone
      }
    },
  }
}
