/**
 * A server to be attacked, in a process of its own; its argument is `http`, `stdio-agent`, `stdio-trainer` or
 * `in-process <seed> <count>`, which attacks itself. Says on its channel when it is ready, and answers there with how
 * it fared.
 */
import { connect } from '@episodic/env'
import { type Caller, createHost, type Host, inProcess } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { serveStdio } from '@episodic/mcp-server/stdio'
import { createRng, type JsonObject, WireError } from '@episodic/protocol'
import { longestTurn } from '../../bench/sessions/longest-turn.ts'
import { type Booty, drawMessage } from './hostile-message.ts'
import { hostileValue } from './hostile-value.ts'
import { hostileWorld } from './hostile-world.ts'
import { watchPrototypes } from './prototypes.ts'

/** How the server fared. */
export interface Fared {
  /** Milliseconds of CPU in the longest turn of its event loop. */
  readonly longestTurn: number
  /**
   * Milliseconds of CPU that it takes to parse and to write the JSON of a message as large as one may be: what a turn
   * is held to.
   */
  readonly largestMessage: number
  /** Properties of shared prototypes that are not as they were. */
  readonly polluted: readonly string[]
  /** What reached a caller as `internal`, and faults of the world. */
  readonly failures: readonly string[]
}

/** What it says once it is ready. */
export interface Ready {
  readonly port: number
  readonly token: string
}

const [endpoint = 'http', seed = '1', count = '0'] = process.argv.slice(2)
/** Messages that are drawn at once. */
const BATCH = 50
const failures: string[] = []
const failed = ({ cause }: { readonly cause: unknown }) =>
  void failures.push(cause instanceof Error ? (cause.stack ?? cause.message).slice(0, 600) : String(cause))
const host = createHost({ environments: [hostileWorld], onFault: failed })
const changedPrototypes = watchPrototypes()
const asked = Promise.withResolvers<void>()
process.on('message', () => asked.resolve())
process.on('disconnect', () => process.exit())

let longest = 0
if (endpoint === 'in-process') longest = await attack(host)
else
  longest = (
    await longestTurn(async () => {
      if (endpoint === 'http') await listen()
      else await servePipe()
      await asked.promise
    })
  ).work
await asked.promise
process.send?.({
  longestTurn: longest,
  largestMessage: measureLargest(),
  polluted: changedPrototypes(),
  failures,
} satisfies Fared)

/** The middle of several measurements. 1 MiB in 10,000 values is what is let in. */
function measureLargest(): number {
  const text = JSON.stringify(Array.from({ length: 10_000 }, (_, n) => ({ [`key ${n}`]: 'x'.repeat(80) })))
  const took = Array.from({ length: 9 }, () => {
    const began = process.cpuUsage()
    for (let times = 0; times < 4; times++) JSON.stringify(JSON.parse(text))
    const { user, system } = process.cpuUsage(began)
    return (user + system) / 4_000
  })
  return took.sort((a, b) => a - b)[4] as number
}

async function servePipe(): Promise<void> {
  void serveStdio(host, { endpoint: endpoint === 'stdio-trainer' ? 'trainer' : 'agent', onError: failed })
  process.send?.({ port: 0, token: '' } satisfies Ready)
}

async function listen(): Promise<void> {
  // What the rate keeps out is not the question here.
  const server = await serveHttp(host, { limits: { rate: { calls: 1_000_000_000, seconds: 1 } }, onError: failed })
  process.send?.({ port: server.port, token: server.controlToken } satisfies Ready)
}

/** Calls both endpoints of this process with messages, and with values that no JSON could say. */
async function attack(target: Host): Promise<number> {
  const rng = createRng(seed)
  const opened = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      target.open(null, { environment: 'besieged', requestKey: `honest-${index}-0123456789abcdef` }),
    ),
  )
  const booty: Booty = {
    handles: opened.map(({ session }) => session),
    capabilities: opened.map(({ seats }) => seats.agent?.capability ?? ''),
  }
  const callers: readonly Caller[] = [
    { endpoint: 'trainer', principal: null },
    ...booty.capabilities.map<Caller>((capability) => ({
      endpoint: 'agent',
      principal: null,
      address: { by: 'capability', token: capability },
    })),
  ]
  const call = async ({ method, params }: { readonly method: unknown; readonly params: unknown }) => {
    try {
      await rng.pick(channels).request(method as string, params as JsonObject)
    } catch (error) {
      if (!WireError.is(error) || ['internal', 'environment-failed'].includes(error.code)) failed({ cause: error })
    }
    // A turn each: what is measured is what one call does to the others.
    await new Promise((resolve) => setImmediate(resolve))
  }
  const channels = callers.map((caller) => inProcess(target, caller))
  process.send?.({ port: 0, token: '' } satisfies Ready)
  let longest = 0
  for (let made = 0; made < Number(count); made += BATCH) {
    // Drawn before, because what an attacker does to make a message is not the server's work.
    const messages = Array.from(
      { length: BATCH },
      () => messageOf(drawMessage(rng, booty)) ?? { method: 'tools/call', params: hostileValue(rng) },
    )
    const { work } = await longestTurn(async () => {
      for (const message of messages) await call(message)
    })
    longest = Math.max(longest, work)
  }
  await using connection = await connect(inProcess(target))
  await using environment = connection.environment()
  await environment.reset()
  for (let amount = 1; amount <= 10; amount++) {
    const { observation } = await environment.step({ tool: 'add', arguments: { amount } })
    if (!observation.text.includes(`total is ${(amount * (amount + 1)) / 2}.`))
      failures.push(`An honest player read: ${observation.text}`)
  }
  return longest
}

function messageOf(bytes: Buffer): { readonly method: unknown; readonly params: unknown } | null {
  try {
    const { method, params } = JSON.parse(bytes.toString())
    return { method, params }
  } catch {
    return null
  }
}
