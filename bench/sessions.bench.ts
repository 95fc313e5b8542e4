/** Memory of 10,000 open idle sessions above that of the empty server, once both have given back what is free. */
import { METHODS } from '@episodic/protocol'
import { startChild } from './child.ts'
import { mebibytes, report } from './figures.ts'
import { drive } from './http-load.ts'

const SESSIONS = 10_000
const CEILING = 60

using server = await startChild<{ port: number; token: string }>('./counter-server.ts')
const { port, token } = server.ready
let opened = 0
const open = () =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: opened,
    method: METHODS.open,
    params: { environment: 'counter', requestKey: `sessions-benchmark-${opened++}` },
  })
const load = { port, path: () => '/env', headers: { Authorization: `Bearer ${token}` }, body: open, connections: 32 }

// A server that has not served yet is still growing into its code: let it open, and compile, a few first.
await drive({ ...load, calls: 500 })
const empty = await server.ask<{ resident: number }>('memory')
const sessionsPerSecond = await drive({ ...load, calls: SESSIONS })
const full = await server.ask<{ resident: number }>('memory')
const above = full.resident - empty.resident
report('sessions', {
  ok: mebibytes(above) <= CEILING,
  sessions: SESSIONS,
  mebibytes: mebibytes(above),
  bytesPerSession: Math.round(above / SESSIONS),
  opensPerSecond: Math.round(sessionsPerSecond),
  ratio: Math.round((mebibytes(above) / CEILING) * 100) / 100,
})
