import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { CommandTarget } from '@episodic/env'
import { HarnessError } from '@episodic/run/base/harness-error'
import { z } from 'zod'
import { CLI } from '../own-command.ts'
import { playerEnvironment } from '../player-environment.ts'

interface RunServerOptions {
  readonly sessions: number
  readonly store: string
}

/** The line that `episodic serve --json` prints when it listens. */
export const listeningSchema = z.object({ agentUrl: z.string(), trainerUrl: z.string(), tokenFile: z.string() })
/** The same of a server of a run: its token is in no file, where an agent of the same user could read it. */
const ownListeningSchema = z.object({ agentUrl: z.string(), trainerUrl: z.string(), controlToken: z.string() })

export function stdioTarget(world: string, options: RunServerOptions): CommandTarget {
  const args = [...process.execArgv, CLI, 'serve', world, '--stdio', '--trainer', ...forRun(options)]
  return { command: process.execPath, args, cwd: process.cwd() }
}

/**
 * Starts a server on a free local port, in its own process. It draws a token of its own, which nobody but the caller
 * learns. Disposing asks the server to stop, and waits until it has. Rejects with `server-failed`, with the end of its
 * output, if it does not start.
 */
export async function startServer(world: string, options: RunServerOptions) {
  const child = spawn(
    process.execPath,
    [...process.execArgv, CLI, 'serve', world, '--port', '0', '--json', '--private', ...forRun(options)],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      // In its own process group, so that Ctrl-C reaches only the run, which then stops the server.
      detached: true,
      // The operator's token is for servers of the operator.
      env: playerEnvironment(),
    },
  )
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-4_000)
  })
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const first = await Promise.race([once(lines, 'line').then(([line]) => line as string), exited.then(() => null)])
  if (first === null) throw new HarnessError('server-failed', `The server of ${world} did not start: ${output.trim()}`)
  const { agentUrl, trainerUrl, controlToken: token } = ownListeningSchema.parse(JSON.parse(first))
  return {
    agentUrl,
    target: { url: trainerUrl, token },
    async [Symbol.asyncDispose]() {
      // The server stops when its input ends. That happens too if this process dies.
      child.stdin.end()
      await exited
    },
  }
}

/** Its log goes to the run's console, so only warnings are wanted. */
function forRun({ sessions, store }: RunServerOptions): string[] {
  return ['--sessions', String(sessions), '--store', store, '--log-level', 'warn']
}
