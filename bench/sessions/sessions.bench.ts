/**
 * Memory of 10,000 and of 100,000 open idle sessions above that of the empty server, once it has given back what is
 * free; and calls a second on 100 sessions, with 100,000 idle ones beside them and with none.
 */
import { META } from '@episodic/protocol'
import { type Child, startChild } from '../child.ts'
import { inTurn, mebibytes, median, ratio, report } from '../figures.ts'
import { drive } from '../http-load.ts'
import { addBody, authorize, type Endpoint, openBody, openSession } from '../trainer-endpoint.ts'

/** Idle sessions, and the mebibytes that they may take. */
const CEILINGS = [
  [10_000, 60],
  [100_000, 600],
] as const
const PLAYED = 100
const CALLS = 20_000
/** Of the calls a second that there are with no idle sessions. */
const FLOOR = 0.9

const load = (ready: Endpoint) => ({
  port: ready.port,
  path: () => '/env',
  headers: authorize(ready),
  connections: 32,
})
const requestKey = (id: number) => `sessions-benchmark-${id}`

/** Opens sessions from one number up to another, and gives how many a second. */
function open({ ready }: Child<Endpoint>, from: number, to: number): Promise<number> {
  let id = from
  return drive({ ...load(ready), body: () => openBody('counter', requestKey(id++)), calls: to - from })
}

/** Calls a second on the first sessions of a server, in turn. Those that are there already are found by their keys. */
async function preparePlay({ ready }: Child<Endpoint>): Promise<() => Promise<number>> {
  const handles: string[] = []
  for (let id = 0; id < PLAYED; id++) handles.push((await openSession(ready, 'counter', requestKey(id))).session)
  let calls = 0
  const body = () => addBody(calls, { [META.session]: handles[calls++ % PLAYED] })
  return () => drive({ ...load(ready), body, calls: CALLS })
}

using few = await startChild<Endpoint>('servers/counter-server.ts')
using crowded = await startChild<Endpoint>('servers/counter-server.ts')
// A server that has not served yet is still growing into its code: let it open, and compile, a few first.
let opened = 500
await open(crowded, 0, opened)
const empty = await crowded.ask<{ resident: number }>('memory')
const idle: { sessions: number; mebibytes: number; bytesPerSession: number; opensPerSecond: number }[] = []
for (const [sessions] of CEILINGS) {
  const more = 500 + sessions
  const opensPerSecond = Math.round(await open(crowded, opened, more))
  opened = more
  const { resident } = await crowded.ask<{ resident: number }>('memory')
  const above = resident - empty.resident
  idle.push({
    sessions,
    mebibytes: mebibytes(above),
    bytesPerSession: Math.round(above / sessions),
    opensPerSecond,
  })
}
const rates = await inTurn(5, { few: await preparePlay(few), crowded: await preparePlay(crowded) })
const toFew = ratio(rates.crowded, rates.few)
report('sessions', {
  ok: CEILINGS.every(([, ceiling], i) => (idle[i]?.mebibytes ?? Number.NaN) <= ceiling) && toFew >= FLOOR,
  idle,
  callsPerSecond: { few: Math.round(median(rates.few)), crowded: Math.round(median(rates.crowded)) },
  toFew,
})
