/** Serves conversations to people, for what measures them from another process. Answers to any question with the seconds of CPU that it has used. */
import { serveConversations } from '@episodic/contexts/http'
import { createHost } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { environment } from '@episodic-world/flight-booking'

const host = createHost({ environments: [environment] })
// Everybody comes from one address, and joins at once.
const rate = { calls: 1_000_000, seconds: 10 }
const server = await serveHttp(host, { extraRoutes: serveConversations(host, [environment]), rate })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ seconds: (user + system) / 1_000_000 })
})
process.send?.({
  url: `ws://127.0.0.1:${server.port}/conversations/${environment.name}`,
  token: server.controlToken,
})
process.on('disconnect', () => process.exit())
