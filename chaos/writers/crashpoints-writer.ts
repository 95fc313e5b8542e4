import { writeSync } from 'node:fs'
import { contentId } from '@episodic/protocol'
import { openSqliteStore } from '@episodic/state/sqlite'

// A process for `crashpoints`: `node crashpoints-writer.ts <path>`. It commits to four sessions of a store at once, and
// reports each acknowledged commit with a synchronous write, so that a kill loses no report. Meanwhile a fifth session
// comes and goes. An origin has the names of the pages with which sessions begin, and a log entry those of the pages
// that its commit writes.

const TURNS = 200
const SESSIONS = 4

const [path = ''] = process.argv.slice(2)
const say = (message: object) => writeSync(1, `${JSON.stringify(message)}\n`)
const ids = Array.from({ length: SESSIONS }, (_, index) => `session-${index}`)
const pagesOf = (id: string, revision: number) =>
  [1, 2].map((page) => {
    const text = `page ${page} of ${id} at ${revision}`.padEnd(600)
    return { name: contentId(text), text }
  })
const namesOf = (pages: readonly { readonly name: string }[]) => JSON.stringify(pages.map(({ name }) => name))
const shared = { pool: 'start', pages: pagesOf('start', 0) }
const sessionOf = (id: string, revision: number) => {
  const text = `${id} at ${revision}`
  const texts = { origin: namesOf(shared.pages), base: null, head: text, state: text }
  return { id, revision, epoch: 1, touchedAt: revision, ...texts, pool: `${id}.0`, pools: [shared.pool] }
}

const store = await openSqliteStore(path, { durability: 'power' })
say({ secret: Buffer.from(await store.secret()).toString('hex') })
await Promise.all(ids.map((id) => store.create(sessionOf(id, 0), shared)))
say({ created: ids })
for (let revision = 1; revision <= TURNS; revision++)
  await Promise.all([
    ...ids.map(async (id) => {
      if (await commit(id, revision)) say({ id, revision })
    }),
    passBy(),
  ])

async function commit(id: string, revision: number): Promise<boolean> {
  const pages = pagesOf(id, revision)
  const entry = { revision, text: `entry ${revision} of ${id}`, state: namesOf(pages) }
  return store.commit(sessionOf(id, revision), { revision: revision - 1, epoch: 1 }, entry, pages)
}

async function passBy(): Promise<void> {
  const id = 'passing'
  await store.create(sessionOf(id, 0), shared)
  await commit(id, 1)
  await store.remove(id)
}
