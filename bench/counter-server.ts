/** Serves the counter world over HTTP, in a process of its own. Answers to `memory` with its resident bytes after a collection. */
import { createHost } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { counter } from './counter-world.ts'

const host = createHost({ environments: [counter], bounds: { sessions: 200_000 } })
const server = await serveHttp(host, { rate: { calls: 1_000_000_000, seconds: 1 } })
process.on('message', () => {
  for (let i = 0; i < 3; i++) globalThis.gc?.()
  process.send?.({ resident: process.memoryUsage().rss })
})
process.on('disconnect', () => process.exit())
process.send?.({
  port: server.port,
  trustedUrl: server.trustedUrl,
  agentUrl: server.agentUrl,
  token: server.controlToken,
})
