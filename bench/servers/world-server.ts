/**
 * Serves the world of a module, its argument, over HTTP and WebSocket, in a process of its own. Answers to any question
 * with the seconds of CPU that it has used.
 */
import { createHost, type EnvironmentDefinition } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { answerWithCpuTime } from '../cpu-time.ts'

const { environment }: { readonly environment: EnvironmentDefinition } = await import(process.argv[2] as string)
const host = createHost({ environments: [environment] })
const server = await serveHttp(host, { limits: { rate: { calls: 1_000_000_000, seconds: 1 } } })
answerWithCpuTime()
process.on('disconnect', () => process.exit())
process.send?.({ trainerUrl: server.trainerUrl, token: server.controlToken })
