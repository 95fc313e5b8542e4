import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type SessionStore, StateError } from '@episodic/state'
import { decodeSession } from '@episodic/state/internal'
import { openSqliteStore } from '@episodic/state/sqlite'
import type { World } from '../worlds/world.ts'
import type { Place } from './client.ts'
import { startRecordingProxy } from './recording-proxy.ts'

/** The entry of the `episodic` command. */
const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Milliseconds in which a process ends whose pipe was closed, and between two looks whether it has. */
const FREE_WITHIN = 30_000
const POLL = 50

/** One world at one place, for one connection. */
export interface Served {
  readonly place: Place
  /** What the client has received. Call it after the connection is closed. */
  received(): Promise<string>
}

/** The worlds, served by `episodic serve` as a user would, with a record of every byte that a client receives. */
export interface ServedWorlds extends AsyncDisposable {
  /** A world at its URL, of a server that serves all of them. */
  overHttp(world: World): Served
  /** A world on the pipe of a process that the client starts. */
  overStdio(world: World): Served
  /** The seeds of all sessions so far. Stops the HTTP server first, because a store has one owner at a time. */
  seeds(): Promise<readonly string[]>
}

/** Starts the server of all worlds. */
export async function serveWorlds(worlds: readonly World[]): Promise<ServedWorlds> {
  await using cleanUp = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'episodic-interop-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const stores: string[] = []
  const storeAt = (name: string): string[] => {
    stores.push(join(folder, name))
    return ['--store', `sqlite:${join(folder, name)}`]
  }
  const environment = { EPISODIC_HOME: folder }
  const server = spawn(
    process.execPath,
    [
      CLI,
      'serve',
      ...worlds.map(({ reference }) => reference),
      '--port',
      '0',
      '--json',
      '--log-level',
      'warn',
      ...storeAt('http.db'),
    ],
    { cwd: ROOT, env: { ...process.env, ...environment }, stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const ended = once(server, 'exit')
  const stop = async () => {
    // `serve --json` stops when its input ends.
    server.stdin.end()
    await ended
  }
  cleanUp.defer(stop)
  const line = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next()
  if (line.done) throw new Error('episodic serve ended before it listened.')
  const { agentUrl } = JSON.parse(line.value) as { agentUrl: string }
  const proxy = cleanUp.use(await startRecordingProxy(agentUrl))
  const owned = cleanUp.move()
  let pipes = 0
  return {
    overHttp: ({ name }) => ({
      place: { url: proxy.urlOf(`${new URL(agentUrl).pathname}/e/${name}`) },
      received: async () => proxy.take(),
    }),
    overStdio({ reference }) {
      const name = `stdio-${++pipes}`
      const record = join(folder, `${name}.record`)
      const words = [process.execPath, CLI, 'serve', reference, '--stdio', ...storeAt(`${name}.db`)]
      // Clients pass few variables of their own environment on, so `env` sets the ones that are needed.
      const variables = Object.entries(environment).map(([key, value]) => `${key}=${value}`)
      const script = 'cd "$1" && record="$2" && shift 2 && env "$@" | tee "$record"'
      return {
        place: { command: '/bin/sh', args: ['-c', script, 'sh', ROOT, record, ...variables, ...words] },
        received: () => readFile(record, 'utf8'),
      }
    },
    async seeds() {
      await stop()
      const seeds = await Promise.all(stores.map(seedsIn))
      return seeds.flat()
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function seedsIn(file: string): Promise<string[]> {
  await using store = await openOnceFree(file)
  const sessions = await store.list({ limit: 10_000 })
  return sessions.map((session) => decodeSession(session).seed)
}

/** A client may close its connection a little before the process that it started has ended. */
async function openOnceFree(file: string): Promise<SessionStore> {
  for (const deadline = performance.now() + FREE_WITHIN; ; ) {
    try {
      return await openSqliteStore(file)
    } catch (error) {
      if (!StateError.is(error, 'store-locked') || performance.now() > deadline) throw error
      await setTimeout(POLL)
    }
  }
}
