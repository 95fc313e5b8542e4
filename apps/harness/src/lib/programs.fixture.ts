import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RedisServer, startRedisServer } from './redis-server.ts'

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

/** Starts a Redis of a test's own, which keeps what it has acknowledged through its own death. */
export async function startRedis(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'episodic-redis-'))
  const server = await startRedisServer(folder)
  if (!server) throw new Error('There is no redis-server.')
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
