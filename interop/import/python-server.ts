import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A server in Python that listens. */
export interface PythonServer extends AsyncDisposable {
  readonly origin: string
}

/** Starts a server of `interop/python`, which prints its port. Rejects with what it wrote if it ends before that. */
export async function startPythonServer(
  python: string,
  program: string,
  args: readonly string[],
): Promise<PythonServer> {
  const file = fileURLToPath(new URL(`../python/${program}`, import.meta.url))
  const child = spawn(python, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4_000)
  })
  const { value: port, done } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()
  if (done) throw new Error(`${program} ${args.join(' ')} ended:\n${errors.trim()}`)
  child.stdout.resume()
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill()
      await ended
    },
  }
}
