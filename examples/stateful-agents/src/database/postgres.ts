import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { chown, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { findProgram } from '../find-program.ts'
import { openTemporaryFolder } from '../temporary-folder.ts'

const run = promisify(execFile)

/**
 * Runs a program until its standard input ends, and then stops it in order. The input ends when its parent closes it,
 * and also when the parent is killed.
 */
const UNTIL_INPUT_ENDS = 'exec 3<&0 </dev/null; (read -r _ <&3; kill -INT $$) & exec "$@" 3<&-'

/** The time limit of an orderly stop, in milliseconds. */
const STOP_LIMIT = 10_000

/** A PostgreSQL server on this machine, in a temporary folder that is removed with it. */
export interface Postgres extends AsyncDisposable {
  /** The environment variables with which a PostgreSQL client finds it. */
  readonly environment: { readonly PGHOST: string; readonly PGUSER: string; readonly PGDATABASE: string }
  /** Runs statements over a connection of their own. */
  execute(sql: string): Promise<void>
}

/**
 * Starts a server that listens on a Unix socket in its folder and on no port. It runs as this process's user, or as
 * `postgres` if that is root, as which PostgreSQL does not run.
 *
 * Rejects with `MissingProgram`, and if the server does not start.
 */
export async function startPostgres(signal: AbortSignal): Promise<Postgres> {
  signal.throwIfAborted()
  // Debian keeps these out of PATH, one folder a version.
  const folders = globSync('/usr/lib/postgresql/*/bin').sort((a, b) => versionOf(b) - versionOf(a))
  const initdb = findProgram(['initdb'], 'postgresql', folders)
  const user = process.getuid?.() === 0 ? await readIds('postgres') : undefined

  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await openTemporaryFolder())
  const [data, socket] = [join(folder.path, 'data'), join(folder.path, 'socket')]
  for (const path of [data, socket]) await mkdir(path, { mode: 0o700 })
  if (user) for (const path of [folder.path, data, socket]) await chown(path, user.uid, user.gid)

  // In process groups of their own: on Ctrl-C the demo disposes them.
  const env = { LC_ALL: 'C', TZ: 'UTC', PATH: process.env.PATH }
  const stdio: SpawnOptions['stdio'] = ['pipe', 'ignore', 'pipe']
  const how = { ...user, cwd: folder.path, env, detached: true, stdio }
  const create = ['--auth=trust', '--username=demo', '--encoding=UTF8', '--no-sync', '--pgdata', data]
  await finish(spawn(initdb, create, how), signal)
  // The demo needs no durability, so nothing waits for the disk.
  const settings = ['listen_addresses=', `unix_socket_directories=${socket}`, 'fsync=off']
  const options = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
  const postgres = join(dirname(initdb), 'postgres')
  const server = spawn('sh', ['-c', UNTIL_INPUT_ENDS, 'sh', postgres, ...options], how)
  stack.defer(() => stopServer(server))
  await becomeReady(server, signal)

  const environment = { PGHOST: socket, PGUSER: 'demo', PGDATABASE: 'postgres' }
  const owned = stack.move()
  return {
    environment,
    async execute(sql) {
      const client = new Client({ host: socket, user: environment.PGUSER, database: environment.PGDATABASE })
      await client.connect()
      try {
        await client.query(sql)
      } finally {
        await client.end()
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function versionOf(folder: string): number {
  return Number(folder.split('/').at(-2))
}

async function readIds(user: string): Promise<{ uid: number; gid: number }> {
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((which) => run('id', [which, user])))
    return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) }
  } catch (cause) {
    throw new Error(`PostgreSQL refuses to run as root, and there is no user ${user}. Run this as another user.`, {
      cause,
    })
  }
}

/** Waits until a program exits with 0. On abort it kills the program with all its children. */
async function finish(program: ChildProcess, signal: AbortSignal): Promise<void> {
  const stop = () => {
    if (program.pid && program.exitCode === null) process.kill(-program.pid, 'SIGKILL')
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    const said = text(program.stderr as Readable)
    const [code] = await once(program, 'close')
    signal.throwIfAborted()
    if (code !== 0) throw new Error(`PostgreSQL could not make a database:\n${await said}`)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Waits until the server reports that it is ready. Keeps reading its output, which would otherwise fill the pipe. */
async function becomeReady(server: ChildProcess, signal: AbortSignal): Promise<void> {
  const said: string[] = []
  const lines = createInterface({ input: server.stderr as Readable })
  const ready = new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      if (line.endsWith('database system is ready to accept connections')) resolve()
      said.push(line)
      if (said.length > 20) said.shift()
    })
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${said.join('\n')}`)))
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  signal.throwIfAborted()
  await ready
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return
  const exited = once(server, 'exit')
  // On SIGINT it rolls back open transactions and ends. On SIGQUIT it aborts.
  server.stdin?.end()
  const late = setTimeout(() => server.kill('SIGQUIT'), STOP_LIMIT)
  await exited
  clearTimeout(late)
}
