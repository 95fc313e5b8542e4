import { createHost } from '@episodic/mcp-server'
import { mountServer, serveHttp } from '@episodic/mcp-server/http'
import { environment } from '@episodic-world/number-guessing'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { createLegacyServer } from './legacy-server.ts'
import { createModernServer } from './modern-server.ts'

/** Serves what the suite asks for, in both eras, behind the guards of our own front. */
export async function serveConformance(): Promise<{ readonly url: string } & AsyncDisposable> {
  await using cleanup = new AsyncDisposableStack()
  const host = cleanup.use(createHost({ environments: [environment] }))
  const handler = createMcpHandler(() => createModernServer(handler.notify), { legacy: 'reject', keepAliveMs: 0 })
  cleanup.defer(() => handler.close())
  const mount = cleanup.use(mountServer({ legacy: createLegacyServer as never, modern: handler.fetch }))
  const server = cleanup.use(await serveHttp(host, { mount, rate: { calls: 100_000, seconds: 1 } }))
  const kept = cleanup.move()
  return { url: server.agentUrl, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Serves a world as it always is. */
export async function serveWorld(): Promise<{ readonly url: string } & AsyncDisposable> {
  await using cleanup = new AsyncDisposableStack()
  const host = cleanup.use(createHost({ environments: [environment] }))
  const server = cleanup.use(await serveHttp(host, { rate: { calls: 100_000, seconds: 1 } }))
  const kept = cleanup.move()
  return { url: server.agentUrl, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}
