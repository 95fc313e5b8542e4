import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, type ProvidedContext } from 'vitest'
import { type RedisServer, startRedisServer } from './redis-server.ts'

/** Whether a program is on this machine. */
export function has(program: keyof ProvidedContext['programs']): boolean {
  return inject('programs')[program] !== null
}

/** Returns the child processes of a process. Needs `pgrep`. */
export function childrenOf(pid: number): number[] {
  return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number)
}

/** Runs a command in a mount namespace of its own. */
export const PRIVATELY: readonly string[] = ['unshare', '-rm']

/** Whether this user may mount in such a namespace. Some systems let only root. */
export function mayMount(): boolean {
  const [program = '', ...options] = PRIVATELY
  return spawnSync(program, [...options, 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
}

/** A Redis of a test's own, to which things happen. */
export interface TestRedis extends RedisServer {
  /** Ends it, as a crash of its machine does. */
  kill(): Promise<void>
  /** Starts it again at the same address after `kill`, with what it has kept. */
  restart(): Promise<void>
  /** Stops it, as a machine does that has no time for it: its connections stay open, and nothing is answered. */
  freeze(): void
  thaw(): void
}

/**
 * Starts a Redis of a test's own, which keeps what it has acknowledged through its own death.
 *
 * @param further - options of `redis-server`.
 */
export async function startRedis(further: readonly string[] = []): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'episodic-redis-'))
  const start = async (port?: number) => {
    const started = await startRedisServer(folder, further, port)
    if (!started) throw new Error('redis-server is not installed: apt-get install redis-server')
    return started
  }
  let server = await start()
  const { url } = server
  return {
    url,
    get pid() {
      return server.pid
    },
    async kill() {
      await server[Symbol.asyncDispose]()
    },
    async restart() {
      server = await start(Number(new URL(url).port))
    },
    freeze: () => void process.kill(server.pid, 'SIGSTOP'),
    thaw: () => void process.kill(server.pid, 'SIGCONT'),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
