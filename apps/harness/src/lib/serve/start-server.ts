import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { CommandTarget, HttpTarget } from '@episodic/env'
import { z } from 'zod'
import { HarnessError } from '../harness-error.ts'
import { findControlToken } from './control-token.ts'

/** A server in a process of its own. Disposing of it asks it to stop and waits until it has. */
export interface StartedServer extends AsyncDisposable {
  readonly target: HttpTarget
  readonly agentUrl: string
}

/** What a run needs of the server that it starts. */
interface RunServerOptions {
  readonly sessions: number
  readonly workerThreads: boolean
  readonly store: string
}

/** What `episodic serve --json` says once it listens. */
export const listeningSchema = z.object({ agentUrl: z.string(), trainerUrl: z.string(), tokenFile: z.string() })

/** The command itself, whether it runs from its source or from what was built of it. */
export const CLI = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../cli.ts' : './cli.js', import.meta.url),
)

/** The command line that serves a world over a pipe, as a trainer endpoint. */
export function stdioTarget(world: string, options: RunServerOptions): CommandTarget {
  const args = [...process.execArgv, CLI, 'serve', world, '--stdio', '--trainer', ...forRun(options)]
  return { command: process.execPath, args, cwd: process.cwd() }
}

/** Starts a server of a world on a free port of this machine. Throws `server-failed` with what it said last. */
export async function startServer(world: string, options: RunServerOptions): Promise<StartedServer> {
  const child = spawn(
    process.execPath,
    [...process.execArgv, CLI, 'serve', world, '--port', '0', '--json', ...forRun(options)],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own, so that Ctrl-C reaches the run, which stops the server when it is done with it.
      detached: true,
    },
  )
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000)
  })
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const first = await Promise.race([once(lines, 'line').then(([line]) => line as string), exited.then(() => null)])
  if (first === null) throw new HarnessError('server-failed', `The server of ${world} did not start: ${said.trim()}`)
  const { agentUrl, trainerUrl } = listeningSchema.parse(JSON.parse(first))
  return {
    agentUrl,
    target: { url: trainerUrl, token: findControlToken(trainerUrl) },
    async [Symbol.asyncDispose]() {
      // The server stops when its input ends, which it does too where this process dies.
      child.stdin.end()
      await exited
    },
  }
}

/** What a server is told that serves one run: it has the run's own console to write to. */
function forRun({ sessions, workerThreads, store }: RunServerOptions): string[] {
  const always = ['--sessions', String(sessions), '--store', store, '--log-level', 'warn']
  return [...always, ...(workerThreads ? ['--worker-threads'] : [])]
}
