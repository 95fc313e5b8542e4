import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { HarnessError } from '../harness-error.ts'

/** A Redis of one's own, in a process that goes with it. It keeps nothing on the disk. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string
}

/** Starts `redis-server` on a free port of this machine; `null` where it is not installed. Throws `server-failed`. */
export async function startRedisServer(): Promise<RedisServer | null> {
  const port = await freePort()
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()).once('error', () => resolve()))
  const spawned = await once(server, 'spawn').catch(() => null)
  if (!spawned) return null
  let said = ''
  for await (const text of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += text
    if (said.includes('Ready to accept connections')) break
  }
  if (server.exitCode !== null || !said.includes('Ready'))
    throw new HarnessError('server-failed', `redis-server did not start: ${said.trim().slice(-1_000)}`)
  // What it says later must not fill the pipe.
  server.stdout.resume()
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.kill('SIGKILL')
      await exited
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
