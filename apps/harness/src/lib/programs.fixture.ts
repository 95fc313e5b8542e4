import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Whether a program is on this machine. In CI, a missing program is a failure. */
export function has(program: 'redis-server' | 'strace'): boolean {
  const found = spawnSync(program, ['--version']).status === 0
  if (!found && process.env.CI) throw new Error(`The tests need ${program}. Install it: apt-get install ${program}`)
  return found
}

/** Runs a command in a mount namespace of its own. */
export const PRIVATELY: readonly string[] = ['unshare', '-rm']

/** Whether this user may mount in such a namespace. Some systems let only root. */
export function mayMount(): boolean {
  const [program = '', ...options] = PRIVATELY
  return spawnSync(program, [...options, 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
}

/** A Redis of a test's own, which keeps what it has acknowledged through its own death. */
export interface Redis extends AsyncDisposable {
  readonly url: string
}

export async function startRedis(): Promise<Redis> {
  const folder = mkdtempSync(join(tmpdir(), 'episodic-redis-'))
  const port = await freePort()
  const options = [
    '--port',
    String(port),
    '--dir',
    folder,
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
    '--save',
    '',
  ]
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(server, 'exit')
  let said = ''
  for await (const text of server.stdout.setEncoding('utf8')) {
    said += text
    if (said.includes('Ready to accept connections')) break
  }
  // Later output is discarded, so that it does not fill the pipe.
  server.stdout.resume()
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
