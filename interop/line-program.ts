import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A program that answers each line of JSON with a line of JSON. */
export interface LineProgram extends AsyncDisposable {
  /** Rejects with what the program wrote to standard error if it ends before it answers. */
  ask(question: unknown): Promise<unknown>
}

/** Milliseconds that an answer may take. */
const ANSWER_WITHIN = 120_000

/** Starts a program. Disposing ends its input, and waits until it is gone. */
export function startLineProgram(command: string, args: readonly string[]): LineProgram {
  const child: ChildProcess = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  ended.catch(() => {})
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4_000)
  })
  child.stdin?.on('error', () => {})
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  return {
    async ask(question) {
      child.stdin?.write(`${JSON.stringify(question)}\n`)
      // A program that hangs would make its caller hang.
      const silence = setTimeout(() => child.kill('SIGKILL'), ANSWER_WITHIN)
      const { value, done } = await lines.next()
      clearTimeout(silence)
      if (!done) return JSON.parse(value)
      await ended
      throw new Error(`${command} ${args.join(' ')} ended:\n${errors.trim()}`)
    },
    async [Symbol.asyncDispose]() {
      child.stdin?.end()
      await ended
    },
  }
}
