/** Steps over HTTP with the scanner of answers, beside sessions of the same server that it was taken out of. */
import { DEFAULT_SEAT, META, type OpenResult } from '@episodic/protocol'
import { startChild } from '../child.ts'
import { median, report, round2 } from '../figures.ts'
import { drive, type Load } from '../http-load.ts'
import { addBody, authorize, type Endpoint, openSession } from '../trainer-endpoint.ts'

/** Each round is one slice of calls with the scanner, and one without. */
const ROUNDS = 99
const SLICE = 1_000
const WARM_UP = 10
/** Of each kind. */
const SESSIONS = 100
const CONNECTIONS = 32
const FLOOR = 0.95

using server = await startChild<Endpoint>('servers/leakscan-server.ts')
const { port } = server.ready
let calls = 0

const sessions = { scanned: await open('scanned'), unscanned: await open('unscanned') }
for (const session of sessions.unscanned) {
  const { found } = await server.ask<{ found: boolean }>(capabilityOf(session))
  if (!found) throw new Error('The server has not got the session that it opened.')
}
type Kind = keyof typeof sessions

const trainer = await compare((kind) => ({
  path: () => '/env',
  headers: authorize(server.ready),
  body: () => addBody(calls++, { [META.session]: next(kind).session }),
}))
const agent = await compare((kind) => ({
  path: () => `/mcp/s/${capabilityOf(next(kind))}`,
  headers: {},
  body: () => addBody(calls++, {}),
}))
const undisturbed = { trainer: fastest(trainer), agent: fastest(agent) }
report('leakscan', {
  ok: undisturbed.trainer.ratio >= FLOOR && undisturbed.agent.ratio >= FLOOR,
  ratio: undisturbed.trainer.ratio,
  agentRatio: undisturbed.agent.ratio,
  ratioOfMedians: round2(median(trainer.scanned) / median(trainer.unscanned)),
  agentRatioOfMedians: round2(median(agent.scanned) / median(agent.unscanned)),
  callsPerSecond: Math.round(undisturbed.trainer.scanned),
  unscannedPerSecond: Math.round(undisturbed.trainer.unscanned),
  agentCallsPerSecond: Math.round(undisturbed.agent.scanned),
  agentUnscannedPerSecond: Math.round(undisturbed.agent.unscanned),
})

/** Calls a second of both kinds, in slices that take turns. */
async function compare(load: (kind: Kind) => Pick<Load, 'path' | 'headers' | 'body'>): Promise<Record<Kind, number[]>> {
  const rates: Record<Kind, number[]> = { scanned: [], unscanned: [] }
  for (let round = -WARM_UP; round < ROUNDS; round++)
    for (const kind of round % 2 ? (['scanned', 'unscanned'] as const) : (['unscanned', 'scanned'] as const)) {
      const rate = await drive({ port, connections: CONNECTIONS, calls: SLICE, ...load(kind) })
      if (round >= 0) rates[kind].push(rate)
    }
  return rates
}

/** The median of the fastest fifth of each: other programs can only slow a slice, and some are left alone. */
function fastest(rates: Record<Kind, number[]>): Record<Kind, number> & { readonly ratio: number } {
  const best = (kind: Kind) => median([...rates[kind]].sort((a, b) => b - a).slice(0, Math.ceil(ROUNDS / 5)))
  const [scanned, unscanned] = [best('scanned'), best('unscanned')]
  return { scanned, unscanned, ratio: round2(scanned / unscanned) }
}

async function open(name: string): Promise<readonly OpenResult[]> {
  const opened: OpenResult[] = []
  for (let id = 0; id < SESSIONS; id++)
    opened.push(await openSession(server.ready, 'counter', `leakscan-benchmark-${name}-${id}`))
  return opened
}

function next(kind: Kind): OpenResult {
  return sessions[kind][calls % SESSIONS] as OpenResult
}

function capabilityOf({ seats }: OpenResult): string {
  return seats[DEFAULT_SEAT]?.capability as string
}
