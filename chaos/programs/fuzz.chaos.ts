/** Sends malformed messages of every kind to every endpoint: each is answered, and other clients are not disturbed. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { createInterface } from 'node:readline'
import { connect } from '@episodic/env'
import { META, METHODS, type OpenResult, type Rng } from '@episodic/protocol'
import { Pool } from 'undici'
import { type Booty, drawMessage } from '../hostile/hostile-message.ts'
import { drawRequest } from '../hostile/hostile-request.ts'
import type { Fared, Ready } from '../hostile/hostile-server.ts'
import { runTrial, type Trial } from '../trial.ts'

/** Seconds without an answer or a close after which a message counts as a hang. A request may take 10 to arrive. */
const HANG_SECONDS = 20
/** The longest turn of the server's event loop, in CPU time: a multiple of what reading the largest message takes. */
const LONGEST_TURN = 25
/** Attacks at once. Malformed requests often wait for the server to hang up. */
const SOCKETS = 20
/** The share of requests that are well formed around their message, and the sockets of their pool. */
const [WELL_FORMED, POOLED] = [0.8, 4]
/** Messages written to a pipe before their answers are awaited. */
const BATCH = 50
const utf8 = new TextDecoder('utf-8', { fatal: true })

await runTrial('fuzz', { endpoints: 'http,stdio,in-process' }, async ({ rng, quick, options, stack }) => {
  const messages = quick ? 1_500 : 50_000
  const breaches: string[] = []
  const figures: Record<string, unknown> = { messages }
  const endpoints: Readonly<Record<string, () => Promise<Tally>>> = {
    http: () => attackHttp(rng.stream('http'), messages, stack, breaches),
    stdio: async () => {
      const [agent, trainer] = [rng.stream('agent'), rng.stream('trainer')]
      const tallies = [
        await attackPipe('agent', agent, messages / 2, stack, breaches),
        await attackPipe('trainer', trainer, messages / 2, stack, breaches),
      ]
      return sum(tallies)
    },
    'in-process': () => attackItself(messages, rng.int(1, 1_000_000), stack, breaches),
  }
  for (const name of options.endpoints?.split(',') ?? []) {
    const attack = endpoints[name]
    if (!attack) throw new Error(`There is no endpoint ${name}. There is: ${Object.keys(endpoints).join(', ')}.`)
    const began = performance.now()
    const tally = await attack()
    figures[name] = tally
    console.error(
      `  ${name.padEnd(10)} ${JSON.stringify(tally)} in ${Math.round((performance.now() - began) / 1_000)} s`,
    )
  }
  return { breaches, figures }
})

/** The results of the messages to one endpoint. */
interface Tally {
  readonly sent: number
  readonly answered: number
  readonly hangs: number
  readonly exits: number
  /** Answers with status 5xx, except 503 with `Retry-After`. */
  readonly failed: number
  readonly longestTurn: number
}

function sum(tallies: readonly Tally[]): Tally {
  const total = { sent: 0, answered: 0, hangs: 0, exits: 0, failed: 0, longestTurn: 0 }
  for (const tally of tallies) {
    for (const key of ['sent', 'answered', 'hangs', 'exits', 'failed'] as const) total[key] += tally[key]
    total.longestTurn = Math.max(total.longestTurn, tally.longestTurn)
  }
  return total
}

interface Besieged {
  readonly child: ChildProcess
  readonly ready: Ready
  /** Reads the server's own measurements, and adds what is wrong to `breaches`. */
  fared(breaches: string[]): Promise<{ readonly exits: number; readonly longestTurn: number }>
}

async function besiege(stack: Trial['stack'], endpoint: string, ...args: string[]): Promise<Besieged> {
  const child = fork(new URL('../hostile/hostile-server.ts', import.meta.url), [endpoint, ...args], {
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  })
  stack.defer(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit').then(
    ([status, signal]) => `The server of ${endpoint} ended with ${status ?? signal}.`,
  )
  const next = async <T>(): Promise<T> => {
    const received = await Promise.race([once(child, 'message'), exited])
    if (typeof received === 'string') throw new Error(received)
    return received[0] as T
  }
  const ready = await next<Ready>()
  return {
    child,
    ready,
    async fared(breaches) {
      if (child.exitCode !== null || child.signalCode !== null) {
        breaches.push(await exited)
        return { exits: 1, longestTurn: 0 }
      }
      const answer = next<Fared>()
      child.send('fared')
      const { longestTurn, largestMessage, polluted, failures } = await answer
      breaches.push(...polluted.map((name) => `${name} of the server at ${endpoint} is not what it was.`))
      breaches.push(...failures.map((failure) => `A failure at ${endpoint}: ${failure}`))
      if (longestTurn > LONGEST_TURN * largestMessage)
        breaches.push(
          `A turn at ${endpoint} took ${longestTurn} ms of CPU, and to read the largest message takes ${largestMessage} ms.`,
        )
      return { exits: 0, longestTurn: Math.round(longestTurn * 10) / 10 }
    },
  }
}

async function attackHttp(rng: Rng, messages: number, stack: Trial['stack'], breaches: string[]): Promise<Tally> {
  const { ready, fared } = await besiege(stack, 'http')
  const { port, token } = ready
  const pool = new Pool(`http://127.0.0.1:${port}`, {
    connections: POOLED,
    headersTimeout: HANG_SECONDS * 1_000,
    bodyTimeout: HANG_SECONDS * 1_000,
  })
  const json = { 'content-type': 'application/json' }
  const authorization = `Bearer ${token}`
  const ask = async <T>(path: string, headers: Record<string, string>, method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await pool.request({ path, method: 'POST', headers: { ...json, ...headers }, body })
    return { headers: answer.headers, result: ((await answer.body.json()) as { result: T }).result }
  }
  const opened = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const params = { environment: 'besieged', requestKey: `honest-${index}-0123456789abcdef` }
      return (await ask<OpenResult>('/env', { authorization }, METHODS.open, params)).result
    }),
  )
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const transport = String((await ask('/mcp', {}, 'initialize', initialize)).headers['mcp-session-id'])
  const booty = bootyOf(opened)
  const ways: readonly (readonly [path: string, headers: Record<string, string>])[] = [
    ['/env', { ...json, authorization }],
    ['/mcp', { ...json, 'mcp-session-id': transport }],
    ...booty.capabilities.map((capability) => [`/mcp/s/${capability}`, json] as const),
  ]

  const tally = { answered: 0, hangs: 0, failed: 0 }
  const check = (status: number, retryAfter: unknown, text: string, sent: Buffer) => {
    tally.answered += 1
    const sane = status < 500 || (status === 503 && retryAfter !== undefined)
    if (!sane) tally.failed += 1
    if (!sane || /"code":-32603/.test(text)) breaches.push(`${status} ${text.slice(0, 300)} to ${show(sent)}`)
  }
  const hung = (sent: Buffer) => {
    tally.hangs += 1
    breaches.push(`Neither answered nor hung up on: ${show(sent)}`)
  }
  const post = async (path: string, headers: Record<string, string>, body: Buffer) => {
    try {
      const answer = await pool.request({ path, method: 'POST', headers, body })
      check(answer.statusCode, answer.headers['retry-after'], await answer.body.text(), body)
    } catch (error) {
      if (/TIMEOUT/.test((error as { code?: string }).code ?? '')) hung(body)
    }
  }
  const raw = async (bytes: Buffer, hangUp: boolean) => {
    const said = await shout(port, bytes, hangUp)
    if (said === null) return hung(bytes)
    for (const [, status, head] of said.matchAll(/^HTTP\/1\.1 (\d{3})([\s\S]*?)\r\n\r\n/gm))
      if (status !== '100') check(Number(status), /retry-after: (.*)/i.exec(head ?? '')?.[1], '', bytes)
  }
  const attack = () => {
    const [path, headers] = rng.pick(ways)
    const body = drawMessage(rng, booty)
    if (rng.chance(WELL_FORMED)) return post(path, headers, body)
    const lines = ['Host: localhost', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
    return raw(drawRequest(rng, path, lines, body), rng.chance(0.85))
  }
  // Each draws its whole attack before it waits, so that a seed makes the same attacks in the same order again.
  let left = messages
  const worker = async () => {
    while (left-- > 0) await attack()
  }
  await Promise.all(Array.from({ length: SOCKETS }, worker))
  await pool.destroy()
  await playHonestly({ url: `http://127.0.0.1:${port}/env`, token }, breaches)
  return { sent: messages, ...tally, ...(await fared(breaches)) }
}

/**
 * Writes bytes to a new socket, and resolves with all it receives until the close; with `null` if it is never closed.
 */
function shout(port: number, bytes: Buffer, hangUp: boolean): Promise<string | null> {
  return new Promise((resolve) => {
    let said = ''
    const socket = connectSocket(port, '127.0.0.1')
    const timer = setTimeout(() => {
      resolve(null)
      socket.destroy()
    }, HANG_SECONDS * 1_000)
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(said)
    })
    socket.on('data', (data) => {
      said += data.toString('latin1')
      // The request was answered. Whether the server would send more is unknown for a malformed request.
      socket.end()
    })
    if (hangUp) socket.end(bytes)
    else socket.write(bytes)
  })
}

async function playHonestly(
  target: { readonly url: string; readonly token: string },
  breaches: string[],
): Promise<void> {
  await using connection = await connect(target)
  await using environment = connection.environment('besieged')
  await environment.reset()
  for (let amount = 1; amount <= 10; amount++) {
    const { observation } = await environment.step({ tool: 'add', arguments: { amount } })
    if (!observation.text.includes(totalAfter(amount))) breaches.push(`An honest player read: ${observation.text}`)
  }
}

function totalAfter(amount: number): string {
  return `total is ${(amount * (amount + 1)) / 2}.`
}

async function attackPipe(
  endpoint: 'agent' | 'trainer',
  rng: Rng,
  messages: number,
  stack: Trial['stack'],
  breaches: string[],
): Promise<Tally> {
  const { child, fared } = await besiege(stack, `stdio-${endpoint}`)
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('The server has no pipes.')
  stdin.on('error', () => {})
  const waiting = new Map<unknown, (text: string) => void>()
  let answers = 0
  let changed = Promise.withResolvers<void>()
  createInterface({ input: stdout }).on('line', (text) => {
    const { id, error } = JSON.parse(text)
    if (error?.code === -32603) breaches.push(`${endpoint}: ${text.slice(0, 300)}`)
    const waiter = waiting.get(id)
    if (waiter) waiter(text)
    else answers += 1
    changed.resolve()
  })
  let asked = 0
  const ask = async <T>(method: string, params: object): Promise<T> => {
    const id = `honest ${asked++}`
    const text = await within(
      new Promise<string>((resolve) => {
        waiting.set(id, resolve)
        stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      }),
    )
    waiting.delete(id)
    if (text === null) throw new Error(`${method} on the pipe of ${endpoint} was never answered.`)
    return JSON.parse(text).result
  }
  const open = (requestKey: string) => ask<OpenResult>(METHODS.open, { environment: 'besieged', requestKey })
  const opened: OpenResult[] = []
  if (endpoint === 'trainer')
    for (let index = 0; index < 8; index++) opened.push(await open(`honest-${index}-0123456789abcdef`))
  const booty = bootyOf(opened)

  let [sent, hangs, expected] = [0, 0, 0]
  while (sent < messages && hangs === 0 && child.exitCode === null) {
    for (let drawn = 0; drawn < BATCH; drawn++, sent++) {
      const bytes = drawMessage(rng, booty)
      expected += answersTo(bytes)
      stdin.write(bytes)
      stdin.write('\n')
    }
    const deadline = performance.now() + HANG_SECONDS * 1_000
    while (answers < expected && hangs === 0) {
      changed = Promise.withResolvers()
      if ((await within(changed.promise)) === null || performance.now() > deadline) {
        hangs = expected - answers
        breaches.push(`${hangs} of ${sent} messages on the pipe of ${endpoint} were not answered.`)
      }
    }
  }
  if (child.exitCode === null) {
    const session = endpoint === 'trainer' ? (await open('honest-last-0123456789abcdef')).session : ''
    await ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    })
    for (let amount = 1; amount <= 10; amount++) {
      const _meta = endpoint === 'trainer' ? { [META.session]: session } : {}
      const result = await ask('tools/call', { name: 'add', arguments: { amount }, _meta })
      if (!JSON.stringify(result).includes(totalAfter(amount)))
        breaches.push(`An honest player at ${endpoint} read: ${JSON.stringify(result)}`)
    }
  }
  return { sent, answered: answers, hangs, failed: 0, ...(await fared(breaches)) }
}

/** Returns the least number of answers to the lines of these bytes: a notification and a blank line get none. */
function answersTo(bytes: Buffer): number {
  return bytes
    .toString('latin1')
    .split('\n')
    .filter((line) => {
      try {
        const text = utf8.decode(Buffer.from(line, 'latin1'))
        if (text.trim() === '') return false
        const message = JSON.parse(text.trim())
        return !(message?.jsonrpc === '2.0' && typeof message.method === 'string' && message.id === undefined)
      } catch {
        return true
      }
    }).length
}

async function attackItself(messages: number, seed: number, stack: Trial['stack'], breaches: string[]): Promise<Tally> {
  const { fared } = await besiege(stack, 'in-process', String(seed), String(messages))
  // It answers once it has sent all of them.
  const outcome = await within(fared(breaches), Math.max(60, messages / 100))
  if (outcome === null) breaches.push('A call in process was never answered.')
  return {
    sent: messages,
    answered: messages,
    hangs: outcome ? 0 : 1,
    failed: 0,
    ...(outcome ?? { exits: 0, longestTurn: 0 }),
  }
}

function bootyOf(opened: readonly OpenResult[]): Booty {
  return {
    handles: opened.map(({ session }) => session),
    capabilities: opened.map(({ seats }) => seats.agent?.capability ?? ''),
  }
}

/** Resolves with the result of `work`, or with `null` after the timeout. */
async function within<T>(work: Promise<T>, seconds = HANG_SECONDS): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), seconds * 1_000)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

function show(bytes: Buffer): string {
  return JSON.stringify(bytes.subarray(0, 300).toString('latin1'))
}
