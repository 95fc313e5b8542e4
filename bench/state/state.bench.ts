/**
 * What the size of a state costs: calls that change 1 or 100 rows of states of 1 KiB to 10 MiB, in memory, SQLite and
 * Redis, in process and over HTTP; bytes that a commit writes; forks; opening from a start that sessions share; the
 * memory of 10,000 sessions that share one, before and after a restart. With `--out <folder>`, the costs of calls by
 * size are kept in state-costs.json there, and drawn in state-costs.svg.
 */
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, connect, type Environment } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { META } from '@episodic/protocol'
import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { openRedisStore } from '@episodic/state/redis'
import { openSqliteStore } from '@episodic/state/sqlite'
import { startRedis } from '../../chaos/processes/redis.ts'
import { type Child, startChild } from '../child.ts'
import { inTurn, mebibytes, median, report, round2 } from '../figures.ts'
import { needProgram } from '../needs.ts'
import { readOptions } from '../options.ts'
import { orders, tableOf } from '../servers/orders-world.ts'
import { authorize, type Endpoint, openSession } from '../trainer-endpoint.ts'
import { drawStateCosts, type StateCost, WHOLE_TEXT } from './state-figure.ts'

const { out } = readOptions({ out: { type: 'string' } })

/** Rows of a state of about so many bytes. */
const ROWS = { '1 KiB': 9, '10 KiB': 90, '1 MiB': 9_300, '10 MiB': 93_000 } as const
const BYTES = { '1 KiB': 1_024, '10 KiB': 10_240, '1 MiB': 1_048_576, '10 MiB': 10_485_760 } as const
type Size = keyof typeof ROWS
const SIZES = Object.keys(ROWS) as Size[]
/** The database of the best-known benchmark of customer service has 2.8 MB. */
const SHARED_ROWS = 25_000
const ROUNDS = 5
const CALLS = 300

const GOALS = {
  /** Of a call that changes one row: 10 MiB beside 10 KiB. */
  step: 2,
  /** KiB that a commit writes. */
  written: 16,
  /** Calls that a fork may cost, at 10 MiB. */
  fork: 2,
  /** Openings of a world of 1 KiB that one of a shared start may cost. */
  open: 3,
  /** MiB of the server with 10,000 sessions. */
  resident: 1_024,
  /** MiB of the log and pages of 1,000 steps. */
  log: 32,
}

needProgram('redis-server')
const folder = mkdtempSync(join(tmpdir(), 'episodic-bench-'))
const redis = await startRedis(join(folder, 'redis'), 'everysec')

/** Bytes that commits have written, with their pages. */
let written = 0
function counted(store: SessionStore): SessionStore {
  return new Proxy(store, {
    get(target, name) {
      if (name !== 'commit')
        return typeof target[name as keyof SessionStore] === 'function'
          ? (target[name as keyof SessionStore] as () => unknown).bind(target)
          : undefined
      return (...args: Parameters<SessionStore['commit']>) => {
        const [next, , entry, pages = []] = args
        const texts = [
          next.head,
          next.state,
          entry?.text ?? '',
          entry?.state ?? '',
          ...pages.flatMap(({ name, text }) => [name, text]),
        ]
        written += texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
        return target.commit(...args)
      }
    },
  })
}

async function opened(connection: Connection, rows: number): Promise<Environment> {
  const environment = connection.environment('orders')
  await environment.reset({ seed: 'bench', params: { rows } })
  return environment
}

let call = 0
/** Calls a second, one after the other. */
async function rateOf(environment: Environment, count: number, calls = CALLS): Promise<number> {
  const began = performance.now()
  for (let i = 0; i < calls; i++)
    await environment.step({ tool: 'change', arguments: { from: (call++ * 7_919) % 1_000_000, count } })
  return calls / ((performance.now() - began) / 1_000)
}

interface Measured {
  readonly store: string
  readonly over: string
  readonly rows: number
  readonly perSecond: Readonly<Record<Size, number>>
  readonly ratio: number
}

async function measureSteps(store: string, over: string, connection: Connection): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const count of [1, 100]) {
    const environments = new Map<Size, Environment>()
    for (const size of SIZES) environments.set(size, await opened(connection, ROWS[size]))
    console.error(`${store}, ${over}, ${count} rows`)
    const calls = count === 1 ? CALLS : CALLS / 10
    const measures = Object.fromEntries(
      SIZES.map((size) => [size, () => rateOf(environments.get(size) as Environment, count, calls)]),
    )
    const rates = await inTurn<Size>(ROUNDS, measures as Record<Size, () => Promise<number>>)
    const perSecond = Object.fromEntries(SIZES.map((size) => [size, Math.round(median(rates[size]))])) as Record<
      Size,
      number
    >
    const ratio = round2(median(rates['10 KiB'].map((rate, i) => rate / (rates['10 MiB'][i] as number))))
    measured.push({ store, over, rows: count, perSecond, ratio })
    for (const environment of environments.values()) await environment.close()
  }
  return measured
}

/** Microseconds in which a bare loop reads, changes, writes and hashes a whole state. */
function wholeTextCosts(): StateCost[] {
  return SIZES.flatMap((size) => {
    let text = JSON.stringify({ public: { calls: 0 }, private: { orders: tableOf(ROWS[size]) } })
    return [1, 100].map((rows) => {
      const times = Math.max(5, Math.round(2_000_000 / text.length))
      const began = performance.now()
      for (let i = 0; i < times; i++) {
        const state = JSON.parse(text)
        for (let row = 0; row < rows; row++)
          state.private.orders[`order-${(row * 31) % ROWS[size]}`].status = `call ${i}`
        text = JSON.stringify(state)
        hash('sha256', text)
      }
      const microseconds = Math.round(((performance.now() - began) * 1_000) / times)
      return { series: WHOLE_TEXT, rows, bytes: BYTES[size], microseconds }
    })
  })
}

function costsOf({ store, over, rows, perSecond }: Measured): StateCost[] {
  const series = over === 'http' ? 'memory, over HTTP' : store
  return SIZES.map((size) => {
    return { series, rows, bytes: BYTES[size], microseconds: Math.round(1_000_000 / perSecond[size]) }
  })
}

const inProcessOn = (store: SessionStore) => connect(inProcess(createHost({ environments: [orders], store })))
const serverOn = (address: string) => startChild<Endpoint>('servers/counter-server.ts', address)
const connectTo = ({ ready }: Child<Endpoint>) => connect({ url: ready.trainerUrl, token: ready.token })

const steps: Measured[] = []
{
  const stores: [string, SessionStore][] = [
    ['memory', createMemoryStore()],
    ['sqlite', await openSqliteStore(join(folder, 'steps.db'))],
    ['redis', await openRedisStore(redis.url)],
  ]
  for (const [name, store] of stores) {
    await using connection = await inProcessOn(store)
    steps.push(...(await measureSteps(name, 'in process', connection)))
    await store[Symbol.asyncDispose]()
  }
  using server = await serverOn('memory')
  await using connection = await connectTo(server)
  steps.push(...(await measureSteps('memory', 'http', connection)))
}

if (out !== undefined) {
  const costs = [...steps.flatMap(costsOf), ...wholeTextCosts()]
  writeFileSync(
    join(out, 'state-costs.json'),
    `[\n${costs.map((cost) => `  ${JSON.stringify(cost)}`).join(',\n')}\n]\n`,
  )
  writeFileSync(join(out, 'state-costs.svg'), await drawStateCosts(costs))
}

// What a commit writes, and what 1,000 of them keep.
const store = counted(createMemoryStore())
await using connection = await inProcessOn(store)
const large = await opened(connection, ROWS['10 MiB'])
await rateOf(large, 1, 10)
written = 0
await rateOf(large, 1, 1_000)
const commitKibibytes = round2(written / 1_000 / 1_024)
const logMebibytes = mebibytes(written)

// A fork of the present step, beside a step; and opening, beside opening a world of 1 KiB.
const timed = async (run: () => Promise<unknown>, times: number) => {
  const began = performance.now()
  for (let i = 0; i < times; i++) await run()
  return times / ((performance.now() - began) / 1_000)
}
// As in a run of several episodes at once, another session of each start is open.
await opened(connection, SHARED_ROWS)
const opening = connection.environment('orders')
let seed = 0
const others = await inTurn(ROUNDS, {
  step: () => rateOf(large, 1, 200),
  fork: () => timed(async () => (await large.fork({ count: 1 })).map((fork) => fork.close()), 100),
  'open 1 KiB': () => timed(() => opening.reset({ seed: `s${seed++}`, params: { rows: ROWS['1 KiB'] } }), 100),
  'open 2.8 MiB': () => timed(() => opening.reset({ seed: `s${seed++}`, params: { rows: SHARED_ROWS } }), 100),
})
const cost = (of: keyof typeof others, beside: keyof typeof others) =>
  round2(median(others[beside].map((rate, i) => rate / (others[of][i] as number))))
const fork = cost('fork', 'step')
const open = cost('open 2.8 MiB', 'open 1 KiB')

// 10,000 sessions that share a start, each with 20 rows changed, and again after a restart.
const SESSIONS = 10_000
const file = `sqlite:${join(folder, 'sessions.db')}`
async function inParallel(count: number, run: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (next < count) await run(next++)
    }),
  )
}
async function residentNow(): Promise<number> {
  using server = await serverOn(file)
  const { ready } = server
  const headers = { ...authorize(ready), 'content-type': 'application/json' }
  await inParallel(SESSIONS, async (i) => {
    // The same key finds the session again.
    const { session } = await openSession(ready, 'orders', `state-benchmark-${i}`, {
      seed: 'bench',
      params: { rows: SHARED_ROWS },
    })
    const params = { name: 'change', arguments: { from: i * 17, count: 20 }, _meta: { [META.session]: session } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: i, method: 'tools/call', params })
    const answer = await fetch(ready.trainerUrl, { method: 'POST', body, headers })
    const { result } = (await answer.json()) as { result?: { isError?: boolean } }
    if (!result || result.isError) throw new Error(`A call of session ${i} failed.`)
  })
  return mebibytes((await server.ask<{ resident: number }>('memory')).resident)
}
const resident = await residentNow()
const residentAfterRestart = await residentNow()

await redis[Symbol.asyncDispose]()
rmSync(folder, { recursive: true })
const worst = Math.max(...steps.filter(({ rows }) => rows === 1).map(({ ratio }) => ratio))
report('state', {
  ok:
    worst <= GOALS.step &&
    commitKibibytes <= GOALS.written &&
    fork <= GOALS.fork &&
    open <= GOALS.open &&
    Math.max(resident, residentAfterRestart) <= GOALS.resident &&
    logMebibytes <= GOALS.log,
  goals: GOALS,
  worstRatio: worst,
  steps,
  commitKibibytes,
  logMebibytes,
  forkInSteps: fork,
  sharedOpenInOpens: open,
  sessions: SESSIONS,
  residentMebibytes: resident,
  residentAfterRestart,
})
