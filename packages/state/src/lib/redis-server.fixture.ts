import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'

const isThere = spawnSync('redis-server', ['--version']).status === 0

/** Tests of a real Redis are left out where there is none to start, except in CI, where they then fail. */
export const withoutRedis = !isThere && !process.env.CI

/** What the name of such tests says, so that a skipped one tells what it needs. */
export const NEEDS_REDIS = 'needs redis-server: apt-get install redis-server'

/** `aof`: every change goes to a file before it is answered. `snapshots`: only `SAVE` writes. */
export type Persistence = 'aof' | 'snapshots'

/** A Redis of the test's own, on a free port and in a folder of its own. */
export class RedisServer implements AsyncDisposable {
  readonly url: string
  readonly #arguments: readonly string[]
  readonly #folder: string
  #process: ChildProcess | null = null

  private constructor(port: number, folder: string, persistence: Persistence) {
    this.url = `redis://127.0.0.1:${port}`
    this.#folder = folder
    const appendonly = persistence === 'aof' ? 'yes' : 'no'
    this.#arguments = [
      '--port',
      `${port}`,
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
      '--save',
      '',
      '--appendonly',
      appendonly,
    ]
  }

  static async start(persistence: Persistence): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'episodic-redis-'))
    const server = new RedisServer(await freePort(), folder, persistence)
    await server.start()
    return server
  }

  /** Starts it, with what it kept of a former life, and resolves once it answers. */
  async start(): Promise<void> {
    this.#process = spawn('redis-server', [...this.#arguments], { stdio: 'ignore' })
    await once(this.#process, 'spawn')
    // Connects until it is answered: a loading Redis is not ready yet.
    await using client = this.client()
    await client.ping()
  }

  /** Kills it as `kill -9` does. */
  async kill(): Promise<void> {
    const child = this.#process
    this.#process = null
    if (!child) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  /** Stops it in its tracks: it keeps its connections and answers nothing. */
  freeze(): void {
    this.#process?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#process?.kill('SIGCONT')
  }

  /** A connection to look at it with. */
  client(): Redis & AsyncDisposable {
    const client = new Redis(this.url, { retryStrategy: () => 10, maxRetriesPerRequest: null })
    // Nobody is there yet: it tries again.
    client.on('error', () => {})
    return Object.assign(client, { [Symbol.asyncDispose]: async () => client.disconnect() })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
