import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { createHost } from '@episodic/mcp-server'
import { type ExtraRoutes, serveHttp } from '@episodic/mcp-server/http'
import { ENVELOPE, MODERN_VERSION } from '@episodic/protocol/internal'
import { environment } from '@episodic-world/number-guessing'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { createLegacyServer } from './legacy-server.ts'
import { createModernServer } from './modern-server.ts'

const PATH = '/suite'

/**
 * Serves the tools, prompts and resources that the suite asks for, on the SDKs' own transports, as an extra route of
 * our HTTP server, behind its checks of Host and Origin.
 */
export async function serveConformance(): Promise<{ readonly url: string } & AsyncDisposable> {
  await using cleanup = new AsyncDisposableStack()
  const host = cleanup.use(createHost({ environments: [environment] }))
  const suite = cleanup.use(createSuiteRoutes())
  const server = cleanup.use(await serveHttp(host, { extraRoutes: suite }))
  const kept = cleanup.move()
  return { url: `http://127.0.0.1:${server.port}${PATH}`, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Serves an environment as users do. */
export async function serveWorld(): Promise<{ readonly url: string } & AsyncDisposable> {
  await using cleanup = new AsyncDisposableStack()
  const host = cleanup.use(createHost({ environments: [environment] }))
  const server = cleanup.use(await serveHttp(host, { limits: { rate: { calls: 100_000, seconds: 1 } } }))
  const kept = cleanup.move()
  return { url: server.agentUrl, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

function createSuiteRoutes(): ExtraRoutes & AsyncDisposable {
  const handler = createMcpHandler(() => createModernServer(handler.notify), { legacy: 'reject', keepAliveMs: 0 })
  const transports = new Map<string, StreamableHTTPServerTransport>()

  async function openTransport(): Promise<StreamableHTTPServerTransport> {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, transport),
      onsessionclosed: (id) => void transports.delete(id),
    })
    await createLegacyServer().connect(transport as Parameters<ReturnType<typeof createLegacyServer>['connect']>[0])
    return transport
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const message = request.method === 'POST' ? await json(request).catch(() => undefined) : undefined
    if (isModern(request, message))
      return answerWith(request, response, (asked) => handler.fetch(asked, { parsedBody: message }))
    const sessionId = request.headers['mcp-session-id']
    // A transport without a session answers 400 to anything but `initialize`. An unknown session id gets 404.
    const transport = typeof sessionId === 'string' ? transports.get(sessionId) : await openTransport()
    if (!transport) return void response.writeHead(404).end()
    await transport.handleRequest(request, response, message)
  }

  return {
    owns: (path) => path === PATH,
    answer: (request, response) => void answer(request, response).catch((error) => response.destroy(error)),
    upgrade: (_request, socket) => void socket.destroy(),
    drain: async () => 0,
    end() {},
    async [Symbol.asyncDispose]() {
      await Promise.all([...transports.values()].map((transport) => transport.close()))
      await handler.close()
    },
  }
}

/** Whether a request is of the stateless version, by what it says of itself in its headers or in `_meta`. */
function isModern({ headers }: IncomingMessage, message: unknown): boolean {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { _meta?: object } }
  const isNamed = Object.hasOwn(params?._meta ?? {}, ENVELOPE.version)
  return isNamed || method === 'server/discover' || String(headers['mcp-protocol-version'] ?? '') >= MODERN_VERSION
}

/**
 * Answers with a handler of the web's `Request` and `Response`. The request's signal aborts when the client is gone.
 */
async function answerWith(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const { method = 'GET', url = '/', headers } = request
  const sent = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  const asked = new Request(new URL(url, `http://${headers.host}`), { method, headers: sent, signal: gone.signal })
  const answer = await handle(asked)
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  for await (const chunk of answer.body ?? []) response.write(chunk)
  response.end()
}
