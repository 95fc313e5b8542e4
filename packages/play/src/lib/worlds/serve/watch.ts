import type { Worker } from 'node:cluster'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, unwatchFile, watchFile } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shownPath } from '@episodic/run/base/console'
import { HarnessError } from '@episodic/run/base/harness-error'
import { z } from 'zod'
import type { World } from '../world.ts'
import { endProcess, hasListened, type Listening, prepareForks, untilExit } from './processes.ts'

const loadedSchema = z.object({ loaded: z.record(z.string(), z.string()) })
type Versions = z.infer<typeof loadedSchema>['loaded']

/** Milliseconds between two looks at a file: by its time, so that it works in containers and on network disks too. */
const INTERVAL = 250

/** In a process that serves a watched world: says what it loaded, and resolves when the one before it has ended. */
export async function takeOver(worlds: readonly Pick<World, 'environment'>[]): Promise<void> {
  const turn = once(process, 'message')
  process.send?.({ loaded: Object.fromEntries(worlds.map(({ environment: { name, version } }) => [name, version])) })
  await turn
}

/**
 * Serves worlds in a process of their own, and in a new one when their files change: those that their modules name by
 * relative paths. The new process loads them first, and the old one goes on if they do not load. Sessions are in a
 * store, so those of the same version go on. Resolves with the addresses, which stay.
 *
 * @param args - the command line of a process.
 * @param say - writes in one line what changed.
 */
export async function serveWatched(
  args: readonly string[],
  worlds: readonly World[],
  options: { readonly port: number; readonly address: string; readonly store: string },
  say: (line: string) => void,
) {
  const folder = options.store === 'memory' ? await mkdtemp(join(tmpdir(), 'episodic-watch-')) : null
  const store = folder === null ? [] : ['--store', `sqlite:${join(folder, 'sessions.db')}`]
  const [command = '', ...given] = args
  // Their starts and stops are what `say` writes. A level that was given comes later, and counts.
  const own = [command, '--log-level', 'warn', ...given, ...store]
  const { port, controlToken, fork } = await prepareForks(own, options)
  // A part of their sessions is in the process that plays them.
  const lost = worlds.flatMap(({ environment: { name, guarantees } }) =>
    guarantees?.delivery === 'at-most-once' ? [name] : [],
  )
  let serving: { readonly worker: Worker; readonly versions: Versions } | null = null
  let urls: Listening | null = null
  let stopped = false

  /** Starts a process, and lets it serve once it has loaded the worlds. Returns whether it does. */
  async function replace(): Promise<boolean> {
    const worker = fork()
    const message = await Promise.race([once(worker, 'message'), untilExit(worker).then(() => null)])
    if (message === null) return false
    const versions = loadedSchema.parse(message[0]).loaded
    await end()
    serving = { worker, versions }
    if (stopped) await end()
    else worker.send('serve')
    urls = await hasListened(worker)
    if (urls === null) serving = null
    else void untilExit(worker).then(() => serving?.worker === worker && say(ENDED))
    return urls !== null
  }

  async function end(): Promise<void> {
    const ending = serving?.worker
    serving = null
    if (ending) await endProcess(ending)
  }

  const changed = new Set<string>()
  let reloading: Promise<void> | null = null
  async function reload(): Promise<void> {
    while (changed.size > 0 && !stopped) {
      const files = [...changed].map(shownPath).join(', ')
      changed.clear()
      watch()
      const before = serving?.versions ?? {}
      if (await replace()) say(`${files} changed: ${formatChange(before, serving?.versions ?? {}, lost)}`)
      else
        say(
          `${files} changed, and cannot be served, see above. ${serving ? 'What was served before goes on.' : NOTHING}`,
        )
    }
    reloading = null
  }

  const watched = new Set<string>()
  function watch(): void {
    for (const file of worlds.flatMap(({ url }) => [...filesOf(fileURLToPath(url))])) {
      if (watched.has(file)) continue
      watched.add(file)
      watchFile(file, { interval: INTERVAL }, () => {
        changed.add(file)
        reloading ??= reload()
      })
    }
  }

  async function stop(): Promise<void> {
    stopped = true
    for (const file of watched) unwatchFile(file)
    await end()
    await reloading
    if (folder !== null) await rm(folder, { recursive: true, force: true })
  }

  watch()
  if (!(await replace()) || urls === null) {
    await stop()
    throw new HarnessError('server-failed', 'The server did not start. Its error is printed above.')
  }
  return { ...(urls as Listening), port, controlToken, [Symbol.asyncDispose]: stop }
}

const NOTHING = 'Nothing is served until the next change.'
const ENDED = `The server has ended by itself. ${NOTHING}`

function formatChange(before: Versions, now: Versions, lost: readonly string[]): string {
  return Object.entries(now)
    .map(([name, version]) =>
      before[name] === version
        ? `the new rules of ${name} ${version} are served, and its sessions ${lost.includes(name) ? 'are over' : 'go on'}.`
        : `${name} ${version} is served, and sessions of ${before[name] ?? 'what was served before'} are over.`,
    )
    .join(' ')
}

const CODE: ReadonlySet<string> = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'])
const RELATIVE_PATH = /(['"`])(\.{1,2}\/[^'"`\n]+)\1/g

/** Returns a file and, of a module, all that it names by relative paths: modules that it imports, and data. */
function filesOf(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file) || !existsSync(file) || !statSync(file).isFile()) return found
  found.add(file)
  if (CODE.has(extname(file)))
    for (const [, , path = ''] of readFileSync(file, 'utf8').matchAll(RELATIVE_PATH))
      filesOf(resolve(dirname(file), path), found)
  return found
}
