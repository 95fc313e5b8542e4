/**
 * Many sessions of several principals on one server: no answer contains a byte of another's session, and another's
 * handle is answered like an unknown one.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { META, METHODS, type OpenResult, type Rng } from '@episodic/protocol'
import { Pool } from 'undici'
import { strangersIn } from '../oracles/oracle.ts'
import { resourcesHold, resourcesOf } from '../processes/resources.ts'
import { startServer } from '../processes/server.ts'
import { openStore } from '../processes/store.ts'
import { runTrial } from '../trial.ts'

const PRINCIPALS = ['anna', 'boris', 'chen', 'dana']
/** Calls in flight at once. */
const IN_FLIGHT = 64
/** The share of calls with another principal's handle. */
const STOLEN = 0.05
/** The mark that a session of the ledger puts into every answer. */
const MARKS = /mark-[0-9a-f]{24}/g

/** One session, and who may use it. */
interface Owned {
  readonly principal: string
  readonly mark: string
  readonly opened: OpenResult
  /** Its calls come one after the other, as a player's do. */
  busy: boolean
  steps: number
  total: number
}

interface Answer {
  /** The whole answer to a request, without the date. */
  readonly bytes: string
  readonly body: string
}

await runTrial('isolation', { store: 'sqlite' }, async ({ rng, quick, options, folder, stack }) => {
  const [sessions, calls] = quick ? [32, 2_000] : [256, 50_000]
  const store = stack.use(await openStore(options.store, folder))
  const tokens = PRINCIPALS.flatMap((name) => ['--control-token', `${name}=${tokenOf(name)}`])
  const server = stack.use(await startServer({ folder, args: ['--store', store.address, ...tokens] }))
  const before = resourcesOf(server.process.pid)
  const pool = new Pool(`http://127.0.0.1:${server.port}`, { connections: IN_FLIGHT })
  const marks = rng.stream('marks')
  const owned = await Promise.all(
    Array.from({ length: sessions }, (_, index) =>
      openFor(pool, PRINCIPALS[index % PRINCIPALS.length] as string, markOf(marks)),
    ),
  )

  const breaches: string[] = []
  const counts = { steps: 0, stolen: 0, leakedBytes: 0, differing: 0 }
  const check = (answer: Answer, own: string, what: string) => {
    const strangers = strangersIn(answer.bytes, own, MARKS)
    counts.leakedBytes += strangers.join('').length
    if (strangers.length > 0) breaches.push(`O6 ${what} of ${own} was answered with ${strangers.join(', ')}.`)
  }
  const draws = rng.stream('calls')

  const own = async (session: Owned): Promise<void> => {
    session.busy = true
    const { principal, mark } = session
    const { method, params, adds } = drawCall(draws, session)
    const answer = await insist(() => call(pool, tokenOf(principal), method, params))
    check(answer, mark, method)
    if (isRefusal(answer.body)) breaches.push(`${method} of ${mark} was refused: ${answer.body}`)
    if (adds > 0) {
      counts.steps += 1
      session.steps += 1
      session.total += adds
      if (!answer.body.includes(`total of ${session.total} in`))
        breaches.push(`O1 ${mark} should have a total of ${session.total}: ${answer.body}`)
    }
    session.busy = false
  }
  const withStolenHandle = async (session: Owned): Promise<void> => {
    const others = PRINCIPALS.filter((name) => name !== session.principal)
    const token = tokenOf(draws.pick(others))
    const { session: handle } = session.opened
    const { method, params } = drawCall(draws, session)
    const unknown = JSON.parse(JSON.stringify(params).replace(handle, unknownLike(handle, draws)))
    const [theirs, nobodys] = await Promise.all(
      [params, unknown].map((sent) => insist(() => call(pool, token, method, sent))),
    )
    counts.stolen += 1
    check(theirs as Answer, '', `${method} by another`)
    if (theirs?.bytes === nobodys?.bytes && isRefusal(theirs?.body ?? '')) return
    counts.differing += 1
    breaches.push(`O6 ${method} with another's handle: ${theirs?.bytes}, with an unknown one: ${nobodys?.bytes}`)
  }

  let made = 0
  let killing: Promise<void> | null = null
  const worker = async () => {
    while (made < calls) {
      if (++made === Math.floor(calls / 2)) killing = server.restart()
      const session = draws.pick(owned.filter(({ busy }) => !busy))
      await (draws.chance(STOLEN) ? withStolenHandle(session) : own(session))
    }
  }
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, sessions / 2) }, worker))
  await killing
  await pool.close()
  const { holds, after } = await resourcesHold(server.process.pid, before)
  if (!holds) breaches.push(`O8: the server held ${JSON.stringify(before)}, and now holds ${JSON.stringify(after)}.`)
  return {
    breaches,
    figures: { principals: PRINCIPALS.length, sessions, calls: made, kills: server.kills, ...counts },
  }
})

function tokenOf(principal: string): string {
  return `the-control-token-of-${principal}`
}

function markOf(rng: Rng): string {
  return `mark-${Array.from({ length: 24 }, () => rng.int(0, 15).toString(16)).join('')}`
}

/** Returns a handle of the same shape that was never issued. */
function unknownLike(handle: string, rng: Rng): string {
  const digits = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_'
  return handle.slice(0, 4) + Array.from(handle.slice(4), () => rng.pick([...digits])).join('')
}

async function openFor(pool: Pool, principal: string, mark: string): Promise<Owned> {
  const params = { environment: 'ledger', params: { mark, entries: 1_000_000 }, requestKey: `the session of ${mark}` }
  const { body } = await call(pool, tokenOf(principal), METHODS.open, params)
  const { result } = JSON.parse(body)
  if (!result) throw new Error(`${principal} could not open a session: ${body}`)
  return { principal, mark, opened: result, busy: false, steps: 0, total: 0 }
}

/** A call that needs a handle: mostly steps. */
function drawCall(rng: Rng, { opened: { session }, steps }: Owned): { method: string; params: object; adds: number } {
  if (rng.chance(0.1)) return { method: METHODS.state, params: { session }, adds: 0 }
  if (rng.chance(0.1)) return { method: METHODS.watch, params: { session, limit: 5 }, adds: 0 }
  const adds = rng.int(1, 1_000)
  const _meta = { [META.session]: session, [META.seq]: steps }
  return { method: 'tools/call', params: { name: 'add', arguments: { amount: adds }, _meta }, adds }
}

async function call(pool: Pool, token: string, method: string, params: object): Promise<Answer> {
  const answer = await pool.request({
    path: '/env',
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { date: _, ...headers } = answer.headers
  const body = await answer.body.text()
  return { bytes: `${answer.statusCode} ${JSON.stringify(headers)} ${body}`, body }
}

function isRefusal(body: string): boolean {
  return 'error' in JSON.parse(body)
}

/** Makes a call until the server is there to answer it. */
async function insist<T>(make: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await make()
    } catch {
      await pause(25)
    }
  }
}
