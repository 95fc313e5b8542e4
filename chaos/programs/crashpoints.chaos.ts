/** The SQLite store, killed at each of its first writes and syncs: it opens again, with all that was acknowledged. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { contentId } from '@episodic/protocol'
import type { SessionStore } from '@episodic/state'
import { openSqliteStore } from '@episodic/state/sqlite'
import { crashAt, eachUpTo, visitAll } from '../processes/crash.ts'
import { runTrial } from '../trial.ts'

const WRITER = fileURLToPath(new URL('../writers/crashpoints-writer.ts', import.meta.url))

/** What a writer had reported when it was killed. */
interface Reported {
  readonly secret: string | null
  readonly created: readonly string[]
  /** The last acknowledged revision of each session. */
  readonly revisions: ReadonlyMap<string, number>
}

await runTrial('crashpoints', {}, async ({ quick, folder }) => {
  const points = eachUpTo(200, quick ? 20 : 1)
  const breaches: string[] = []
  let acknowledged = 0
  let reached = 0
  await visitAll(points, async (point) => {
    const path = join(folder, `${point}.db`)
    const { killed, out } = await crashAt(
      { paths: [path, `${path}-wal`, `${path}-journal`], point },
      process.execPath,
      [WRITER, path],
      { cwd: folder, env: { NODE_COMPILE_CACHE: join(folder, 'compiled') } },
    )
    if (!killed) return void breaches.push(`The writer ended before write ${point}.`)
    reached += 1
    const reported = readReports(out)
    for (const revision of reported.revisions.values()) acknowledged += revision
    for (const breach of await problemsAfterCrash(path, reported)) breaches.push(`Killed at write ${point}: ${breach}`)
  })
  return { breaches, figures: { points: points.length, killed: reached, acknowledged } }
})

/** Opens a store again after its writer was killed, and resolves with what is wrong with it. */
async function problemsAfterCrash(path: string, { secret, created, revisions }: Reported): Promise<string[]> {
  const breaches: string[] = []
  try {
    await using store = await openSqliteStore(path)
    if (secret !== null && Buffer.from(await store.secret()).toString('hex') !== secret)
      breaches.push('O2 the secret is another one, and with it every handle.')
    for (const id of created) {
      const session = await store.read(id)
      const acknowledged = revisions.get(id) ?? 0
      if (!session) {
        breaches.push(`O1 ${id} is gone.`)
        continue
      }
      const { revision, head, state } = session
      const text = `${id} at ${revision}`
      // One commit may have landed whose acknowledgement was cut off by the crash.
      if (revision < acknowledged || revision > acknowledged + 1)
        breaches.push(`O1 ${id} is at ${revision}, and ${acknowledged} was acknowledged.`)
      if (head !== text || state !== text)
        breaches.push(`O1 ${id} at ${revision} is half of one commit: ${head}, ${state}.`)
      const log = await store.readLog(id, { after: 0, limit: 1_000 })
      const entries = Array.from({ length: revision }, (_, index) => `entry ${index + 1} of ${id}`)
      if (log.map((entry) => entry.text).join() !== entries.join()) breaches.push(`O1 the log of ${id} has gaps.`)
      const next = { ...session, revision: revision + 1 }
      const goesOn = await store.commit(next, { revision, epoch: 1 }, { revision: revision + 1, text: 'next' })
      if (!goesOn) breaches.push(`${id} rejects a further commit.`)
    }
    breaches.push(...(await problemsOfPages(store)))
  } catch (error) {
    breaches.push(`it does not open: ${error}`)
  }
  return breaches
}

/** Resolves with what is wrong with the pages, and removes all sessions. */
async function problemsOfPages(store: SessionStore): Promise<string[]> {
  const breaches: string[] = []
  const sessions = await store.list({ limit: 100 })
  const written = new Set<string>()
  for (const { id, origin } of sessions) {
    const log = await store.readLog(id, { after: 0, limit: 1_000 })
    const names: string[] = [origin, ...log.flatMap(({ state }) => state ?? [])].flatMap((text) => JSON.parse(text))
    const texts = await store.readPages(id, names)
    const lost = names.filter((name, index) => contentId(texts[index] ?? '') !== name).length
    if (lost > 0) breaches.push(`O1 ${id} lacks ${lost} pages of ${names.length}.`)
    for (const name of names) written.add(name)
  }
  const pages = await store.countPages()
  if (pages !== written.size) breaches.push(`O1 the store has ${pages} pages, and ${written.size} were written.`)
  for (const { id } of sessions) await store.remove(id)
  const left = await store.countPages()
  if (left > 0) breaches.push(`${left} pages are left over without a session.`)
  return breaches
}

function readReports(out: string): Reported {
  const revisions = new Map<string, number>()
  let secret: string | null = null
  let created: readonly string[] = []
  for (const line of out.split('\n').filter((text) => text.endsWith('}'))) {
    const message = JSON.parse(line) as { secret?: string; created?: string[]; id?: string; revision?: number }
    secret = message.secret ?? secret
    created = message.created ?? created
    if (message.id !== undefined && message.revision !== undefined) revisions.set(message.id, message.revision)
  }
  return { secret, created, revisions }
}
