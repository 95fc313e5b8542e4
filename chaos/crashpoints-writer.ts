import { writeSync } from 'node:fs'
import { openSqliteStore } from '@episodic/state/sqlite'

// A process for `crashpoints`: `node crashpoints-writer.ts <path>`. It commits to four sessions of a store at once, and
// reports each acknowledged commit with a synchronous write, so that a kill loses no report.

const TURNS = 200
const SESSIONS = 4

const [path = ''] = process.argv.slice(2)
const say = (message: object) => writeSync(1, `${JSON.stringify(message)}\n`)
const ids = Array.from({ length: SESSIONS }, (_, index) => `session-${index}`)
const sessionOf = (id: string, revision: number) => {
  const text = `${id} at ${revision}`
  const kept = { origin: id, base: null, head: text, state: text, pool: `${id}.0`, pools: [] }
  return { id, revision, epoch: 1, touchedAt: revision, ...kept }
}

const store = await openSqliteStore(path, { durability: 'power' })
say({ secret: Buffer.from(await store.secret()).toString('hex') })
await Promise.all(ids.map((id) => store.create(sessionOf(id, 0))))
say({ created: ids })
for (let revision = 1; revision <= TURNS; revision++)
  await Promise.all(
    ids.map(async (id) => {
      const entry = { revision, text: `entry ${revision} of ${id}` }
      if (await store.commit(sessionOf(id, revision), { revision: revision - 1, epoch: 1 }, entry))
        say({ id, revision })
    }),
  )
