import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { freePort } from './free-port.ts'
import { HarnessError } from './harness-error.ts'

export interface RedisServer extends AsyncDisposable {
  readonly url: string
  readonly pid: number
}

/**
 * Starts `redis-server` on a local port. With a folder it keeps there what it has acknowledged, through its own death;
 * without one it keeps nothing. Resolves with `null` if it is not installed; rejects with `server-failed`.
 *
 * @param further - options of `redis-server`.
 *
 * @param given - its port. Default: a free one.
 */
export async function startRedisServer(
  folder: string | null,
  further: readonly string[] = [],
  given?: number,
): Promise<RedisServer | null> {
  const port = given ?? (await freePort())
  const kept =
    folder === null ? ['--appendonly', 'no'] : ['--dir', folder, '--appendonly', 'yes', '--appendfsync', 'always']
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', ...kept, ...further]
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()).once('error', () => resolve()))
  const spawned = await once(server, 'spawn').catch(() => null)
  if (!spawned) return null
  let output = ''
  for await (const text of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += text
    if (output.includes('Ready to accept connections')) break
  }
  if (server.exitCode !== null || !output.includes('Ready'))
    throw new HarnessError('server-failed', `redis-server did not start: ${output.trim().slice(-1_000)}`)
  // Keep reading, so that the pipe does not fill up.
  server.stdout.resume()
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: server.pid as number,
    async [Symbol.asyncDispose]() {
      server.kill('SIGKILL')
      await exited
    },
  }
}
