import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { CommandServer } from './server-config.ts'

const notes = fileURLToPath(new URL('./notes-server.fixture.ts', import.meta.url))
const require = createRequire(import.meta.url)

/** The server of notes, over its pipes. */
export function notesCommand(env: Record<string, string> = {}): CommandServer {
  return { command: process.execPath, args: [notes, 'stdio'], env }
}

/** A server that says its answers in pieces. */
export const piecewiseCommand: CommandServer = {
  command: process.execPath,
  args: [fileURLToPath(new URL('./piecewise-server.fixture.ts', import.meta.url))],
}

/** Somebody else's servers. */
export const thinkingCommand: CommandServer = {
  command: process.execPath,
  args: [require.resolve('@modelcontextprotocol/server-sequential-thinking/dist/index.js')],
}
export const everythingCommand: CommandServer = {
  command: process.execPath,
  args: [require.resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
}

/** A server over HTTP that can be killed, and started again on the same port. */
export interface HttpServer extends AsyncDisposable {
  readonly url: string
  kill(): Promise<void>
  restart(env?: Record<string, string>): Promise<void>
  /** How many sessions it has. */
  sessions(): Promise<number>
  /** Resolves when it was asked for what it never answers. */
  hangs(): Promise<unknown>
}

/** Starts the server of notes over HTTP. */
export async function serveNotes(env: Record<string, string> = {}): Promise<HttpServer> {
  let child: ChildProcess
  let port = 0
  const said = (word: string): Promise<number> => {
    const { promise, resolve: found, reject } = Promise.withResolvers<number>()
    const lines = createInterface({ input: child.stdout! })
    lines.on('line', (line) => {
      if (line.startsWith(`${word} `)) found(Number(line.slice(word.length + 1)))
    })
    child.once('exit', (status) => reject(new Error(`The server ended with ${status}.`)))
    return promise.finally(() => lines.close())
  }
  const start = async (more: Record<string, string> = {}) => {
    child = spawn(process.execPath, [notes, 'http', String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env, ...more },
    })
    port = await said('listening')
  }
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await start()
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    kill,
    async restart(more) {
      await kill()
      await start(more)
    },
    async sessions() {
      const answer = said('sessions')
      child.kill('SIGUSR2')
      return answer
    },
    hangs: () => said('hanging'),
    [Symbol.asyncDispose]: kill,
  }
}

/** Whether a process lives: one that has ended and waits to be collected does not. */
export async function lives(pid: number): Promise<boolean> {
  const ps = spawn('ps', ['-o', 'stat=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] })
  const out = (await ps.stdout.toArray()).join('').trim()
  return out !== '' && !out.startsWith('Z')
}

/** Asks again and again until something is so. A test that waits for what never comes runs into its own time limit. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate)
}
