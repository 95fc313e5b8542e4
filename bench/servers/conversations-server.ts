/**
 * Serves conversations for a benchmark in another process. Answers each message of it with the seconds of CPU time
 * used.
 */
import { serveConversations } from '@episodic/contexts/http'
import { createHost } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { environment } from '@episodic-world/flight-booking'
import { answerWithCpuTime } from '../cpu-time.ts'

const host = createHost({ environments: [environment] })
// All connections come from one address, at once.
const rate = { calls: 1_000_000, seconds: 10 }
const server = await serveHttp(host, { extraRoutes: serveConversations(host, [environment]), limits: { rate } })
answerWithCpuTime()
process.send?.({
  url: `ws://127.0.0.1:${server.port}/conversations/${environment.name}`,
  token: server.controlToken,
})
process.on('disconnect', () => process.exit())
