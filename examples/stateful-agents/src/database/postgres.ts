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
 * Runs a program until its standard input ends, and then has it stop in good order. That end comes when its parent says
 * so, and also when its parent is killed, which leaves nobody to say anything.
 */
const UNTIL_INPUT_ENDS = 'exec 3<&0 </dev/null; (read -r _ <&3; kill -INT $$) & exec "$@" 3<&-'

/** Milliseconds that the server has to stop in good order. */
const STOP_LIMIT = 10_000

/** A PostgreSQL server of this machine, in a temporary folder that goes with it. */
export interface Postgres extends AsyncDisposable {
  /** How a client finds it, in the variables that every PostgreSQL client reads. */
  readonly environment: { readonly PGHOST: string; readonly PGUSER: string; readonly PGDATABASE: string }
  /** Runs statements over a connection of their own. */
  execute(sql: string): Promise<void>
}

/**
 * Starts a server that listens on a Unix socket in its folder and on no port. It runs as this process's user, or as
 * `postgres` where that is root, which PostgreSQL refuses.
 *
 * Rejects with `MissingProgram`, and when the server will not start.
 */
export async function startPostgres(signal: AbortSignal): Promise<Postgres> {
  signal.throwIfAborted()
  // Debian keeps these out of PATH, one folder a version.
  const folders = globSync('/usr/lib/postgresql/*/bin').sort((a, b) => versionOf(b) - versionOf(a))
  const initdb = findProgram(['initdb'], 'postgresql', folders)
  const user = process.getuid?.() === 0 ? await idsOf('postgres') : undefined

  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await openTemporaryFolder())
  const [data, socket] = [join(folder.path, 'data'), join(folder.path, 'socket')]
  for (const path of [data, socket]) await mkdir(path, { mode: 0o700 })
  if (user) for (const path of [folder.path, data, socket]) await chown(path, user.uid, user.gid)

  // In groups of their own: the keyboard's Ctrl-C is the demo's to answer, by disposing.
  const env = { LC_ALL: 'C', TZ: 'UTC', PATH: process.env.PATH }
  const stdio: SpawnOptions['stdio'] = ['pipe', 'ignore', 'pipe']
  const how = { ...user, cwd: folder.path, env, detached: true, stdio }
  const create = ['--auth=trust', '--username=demo', '--encoding=UTF8', '--no-sync', '--pgdata', data]
  await finish(spawn(initdb, create, how), signal)
  // Durability is not what is shown, so nothing waits for the disk.
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

async function idsOf(user: string): Promise<{ uid: number; gid: number }> {
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((which) => run('id', [which, user])))
    return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) }
  } catch (cause) {
    throw new Error(`PostgreSQL refuses to run as root, and there is no user ${user}. Run this as another user.`, {
      cause,
    })
  }
}

/** Waits for a program to end well. Where that is aborted it is ended with all that it started, and then nothing of it is left. */
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

/** Waits until the server says that it is ready, and goes on reading what it says, which would else fill its pipe. */
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
  // On SIGINT open transactions are rolled back, and it ends. SIGQUIT has it drop everything.
  server.stdin?.end()
  const late = setTimeout(() => server.kill('SIGQUIT'), STOP_LIMIT)
  await exited
  clearTimeout(late)
}
