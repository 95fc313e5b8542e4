/** Writers are frozen, lose their sessions to another owner, and wake: nothing that they then write is accepted. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openRedisStore } from '@episodic/state/redis'
import { startRedis } from '../processes/redis.ts'
import { startProcess } from '../processes/start-process.ts'
import { runTrial } from '../trial.ts'
import { createTally, holdTally, isWhole, ROWS, sign, signatures } from '../writers/tally.ts'

const WRITER = fileURLToPath(new URL('../writers/zombie-writer.ts', import.meta.url))
const OWNER = 'owner'
/** Steps of the new owner while the former one is frozen, and again after it woke. */
const STEPS = 3

/** What a writer reports of one of its sessions in the end. */
interface WriterReport {
  readonly id: string
  readonly accepted: number
  readonly last: number
  readonly refusals: readonly string[]
}

await runTrial('zombie', {}, async ({ quick, folder, stack }) => {
  const [processes, each] = quick ? [2, 10] : [8, 25]
  const redis = stack.use(await startRedis(join(folder, 'redis')))
  const store = stack.use(await openRedisStore(redis.url))
  const groups = Array.from({ length: processes }, (_, p) =>
    Array.from({ length: each }, (_, s) => `session-${p}-${s}`),
  )
  const ids = groups.flat()
  const rowsOf = (id: string) => (ids.indexOf(id) % 2 === 0 ? 0 : ROWS)
  await Promise.all(ids.map((id) => createTally(store, id, rowsOf(id))))
  const env = { NODE_COMPILE_CACHE: join(folder, 'compiled') }
  const writers = groups.map((group, p) =>
    stack.use(startProcess(process.execPath, [WRITER, redis.url, `writer-${p}`, ...group], { env })),
  )
  await Promise.all(writers.map((writer) => writer.line()))

  for (const writer of writers) writer.signal('SIGSTOP')
  const owned = await Promise.all(
    ids.map(async (id) => {
      const session = await holdTally(store, id)
      const { revision } = await session.takeOver()
      for (let step = 0; step < STEPS; step++) await sign(session, OWNER)
      return { id, session, takenAt: revision }
    }),
  )
  for (const writer of writers) writer.signal('SIGCONT')
  // The owner goes on while they try.
  const [reports] = await Promise.all([
    Promise.all(
      writers.map(async (writer) =>
        (await linesOf(() => writer.line(), each)).map((line) => JSON.parse(line) as WriterReport),
      ),
    ),
    ...owned.map(async ({ session }) => {
      for (let step = 0; step < STEPS; step++) await sign(session, OWNER)
    }),
  ])

  const breaches: string[] = []
  const byId = new Map(reports.flat().map((writer) => [writer.id, writer]))
  let written = 0
  let late = 0
  let wrongStates = 0
  for (const { id, takenAt } of owned) {
    const log = await signatures(store, id)
    const writer = byId.get(id) as WriterReport
    const before = log.filter(({ revision }) => revision < takenAt)
    const after = log.filter(({ revision }) => revision > takenAt)
    const strangers = after.filter(({ signature }) => signature !== OWNER)
    late += strangers.length
    written += before.length
    if (strangers.length > 0) breaches.push(`${id} took ${strangers.length} writes of a former owner.`)
    if (after.length - strangers.length !== 2 * STEPS)
      breaches.push(`O1 ${id} has ${after.length} of ${2 * STEPS} steps of its owner.`)
    // One commit may have succeeded whose answer did not reach the frozen writer.
    if (writer.accepted < before.length - 1 || writer.accepted > before.length || writer.last > takenAt)
      breaches.push(
        `O1 ${id} acknowledged ${writer.accepted} steps up to ${writer.last} to its writer, and has ${before.length}.`,
      )
    if (writer.refusals.some((code) => code !== 'fenced'))
      breaches.push(`${id} refused with ${writer.refusals.join(', ')}.`)
    if (!(await isWhole(store, id, { rows: rowsOf(id), log }))) {
      wrongStates += 1
      breaches.push(`O5 ${id} has a state that its ${log.length} steps do not make of a plain object.`)
    }
  }
  const pages = await store.countPages()
  await Promise.all(ids.map((id) => store.remove(id)))
  const pagesLeft = await store.countPages()
  if (pagesLeft > 0) breaches.push(`O7 ${pagesLeft} pages are left of sessions that were removed.`)
  return {
    breaches,
    figures: {
      ...{ writers: ids.length, processes, writesBefore: written, acceptedAfter: late },
      ...{ wrongStates, pages, pagesLeft },
    },
  }
})

async function linesOf(next: () => Promise<string>, count: number): Promise<string[]> {
  const lines: string[] = []
  while (lines.length < count) lines.push(await next())
  return lines
}
