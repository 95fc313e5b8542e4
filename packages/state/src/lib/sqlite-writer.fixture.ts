import { writeSync } from 'node:fs'
import { openSqliteStore } from './sqlite-store.ts'

// A process of its own for the tests of the SQLite store: `node sqlite-writer.fixture.ts <part> <path> [durability]`.
// It reports with synchronous writes, so that what it said before it was killed has left it.

const [part, path, durability] = process.argv.slice(2) as ['commit' | 'fill' | 'endure', string, 'process' | 'power']
const say = (message: unknown) => writeSync(1, `${JSON.stringify(message)}\n`)
const store = await openSqliteStore(path, { durability })
const sessionOf = (id: string, revision: number, state = `${id}:${revision}`) => ({
  id,
  revision,
  epoch: 1,
  touchedAt: revision,
  origin: id,
  base: null,
  head: `${id}:${revision}`,
  state,
})
const commit = (id: string, revision: number, state?: string) =>
  store.commit(
    sessionOf(id, revision, state),
    { revision: revision - 1, epoch: 1 },
    { revision, text: `${id}:${revision}` },
  )

/** Commits to eight sessions at once, without end, and tells of each commit after it was acknowledged. */
async function commitForEver(): Promise<void> {
  const ids = Array.from({ length: 8 }, (_, index) => `session-${index}`)
  await Promise.all(ids.map((id) => store.create(sessionOf(id, 0))))
  await Promise.all(
    ids.map(async (id) => {
      for (let revision = 1; ; revision++) if (await commit(id, revision)) say({ id, revision })
    }),
  )
}

/** Commits one session that fits on the disk and one that does not, in one turn; then the first alone. */
async function fillTheDisk(): Promise<void> {
  await Promise.all([store.create(sessionOf('small', 0)), store.create(sessionOf('large', 0))])
  const together = await Promise.allSettled([commit('small', 1), commit('large', 1, 'x'.repeat(8_000_000))])
  say({
    together: together.map((result) => (result.status === 'rejected' ? result.reason.code : result.value)),
    kept: [await store.read('small'), await store.read('large')].map((session) => session?.revision),
    alone: await commit('small', 1),
  })
  await store[Symbol.asyncDispose]()
}

/** Commits to four sessions a turn, whatever comes of it, and tells at the end what came of each commit. */
async function endure(): Promise<void> {
  const ids = ['a', 'b', 'c', 'd']
  await Promise.all(ids.map((id) => store.create(sessionOf(id, 0))))
  const revisions = new Map(ids.map((id) => [id, 0]))
  const outcomes: unknown[] = []
  for (let turn = 0; turn < 60; turn++)
    await Promise.all(
      ids.map(async (id) => {
        const revision = (revisions.get(id) ?? 0) + 1
        const outcome = await commit(id, revision).catch(({ code }) => code)
        if (outcome === true) revisions.set(id, revision)
        outcomes.push({ id, outcome })
      }),
    )
  say(outcomes)
  await store[Symbol.asyncDispose]()
}

const parts = { commit: commitForEver, fill: fillTheDisk, endure }
await parts[part]()
