/**
 * Serves the counter world over HTTP, in a process of its own; its argument is the store (`memory`, `sqlite:<file>` or
 * the URL of a Redis). Answers to `memory` with its resident and heap bytes after a collection, to `cpu` with the
 * seconds of CPU that it has used.
 */
import { createHost } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { openRedisStore } from '@episodic/state/redis'
import { openSqliteStore } from '@episodic/state/sqlite'
import { cpuSeconds } from '../cpu-time.ts'
import { counter } from './counter-world.ts'
import { orders } from './orders-world.ts'

const store = await openStore(process.argv[2] ?? 'memory')
const host = createHost({ environments: [counter, orders], store, bounds: { sessions: 200_000 } })
const server = await serveHttp(host, { limits: { rate: { calls: 1_000_000_000, seconds: 1 } } })
process.on('message', (question) => process.send?.(question === 'cpu' ? { seconds: cpuSeconds() } : readMemory()))
process.on('disconnect', () => process.exit())
process.send?.({
  port: server.port,
  trainerUrl: server.trainerUrl,
  agentUrl: server.agentUrl,
  token: server.controlToken,
})

async function openStore(address: string): Promise<SessionStore> {
  if (address.startsWith('sqlite:')) return openSqliteStore(address.slice('sqlite:'.length))
  return address === 'memory' ? createMemoryStore() : openRedisStore(address)
}

function readMemory() {
  // As V8 does by itself in a process that idles: what it has freed goes back to the system.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  const { rss: resident, heapUsed: heap } = process.memoryUsage()
  return { resident, heap }
}
