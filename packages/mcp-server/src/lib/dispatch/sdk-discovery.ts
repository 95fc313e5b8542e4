import { EXTENSION, WireError } from '@episodic/protocol'
import { invalidParams, MODERN_VERSION } from '@episodic/protocol/internal'
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  PerRequestHTTPServerTransport,
  Server,
} from '@modelcontextprotocol/server'
import { type Advertisement, AT_AGENTS, EXTENSIONS } from './advertisement.ts'
import { numbered, toolOnTheWire } from './discovery-answers.ts'
import { complete, getPrompt, PROMPTS } from './instructions.ts'
import { PROTOCOL_VERSIONS } from './protocol-version.ts'
import { listResources, listTemplates } from './state-resource.ts'

/** Lists do not change while a server runs, so clients may cache them. */
const CACHED = { ttlMs: 300_000, cacheScope: 'private' } as const

/**
 * Answers one request for discovery or negotiation (`initialize`, `server/discover`, `tools/list`, …) with the MCP SDK.
 * `modern` is whether it is of the stateless version.
 *
 * A server object is created for the one request and dropped after it: it costs some tens of microseconds, which do not
 * matter for discovery, and ten thousand sessions keep no such object.
 */
export async function discover(advertisement: Advertisement, request: object, modern: boolean): Promise<object> {
  const server = createServer(advertisement, modern)
  const answer = await (modern ? askModern : askLegacy)(server, request as JSONRPCRequest)
  // The SDK answers so if parameters fail its schemas, with the schema's whole report.
  if ('error' in answer && (answer.error as { code: number }).code === INTERNAL)
    throw invalidParams('These are not the parameters that MCP knows for this method.')
  return answer
}

const INTERNAL = -32603

async function askModern(server: Server, request: JSONRPCRequest): Promise<object> {
  const classification = { era: 'modern', revision: MODERN_VERSION } as const
  const transport = new PerRequestHTTPServerTransport({ classification, responseMode: 'json' })
  await server.connect(transport)
  return (await transport.handleMessage(request)).json() as Promise<object>
}

function askLegacy(server: Server, request: JSONRPCRequest): Promise<object> {
  return new Promise((resolve, reject) => {
    const transport: Parameters<Server['connect']>[0] = {
      async start() {},
      async send(message: JSONRPCMessage) {
        resolve(message)
      },
      async close() {},
    }
    server.onerror = (cause) =>
      reject(new WireError('invalid-request', 'This is not a request that MCP knows the shape of.', { cause }))
    server.connect(transport).then(() => transport.onmessage?.(request), reject)
  })
}

/** Creates a server object of the SDK that describes the endpoint and lists its tools, resources and prompts. */
function createServer(advertisement: Advertisement, modern: boolean): Server {
  const { name, title, version, instructions, presented, tools, state } = advertisement
  const extension = { [EXTENSION]: {} }
  const atTrainers = modern ? { extensions: extension } : { extensions: extension, experimental: extension }
  const atAgents = modern ? { ...AT_AGENTS, extensions: EXTENSIONS } : AT_AGENTS
  const server = new Server(
    { name, title, version },
    {
      capabilities: { tools: {}, ...(state === null ? atTrainers : atAgents) },
      instructions,
      supportedProtocolVersions: modern ? [MODERN_VERSION] : [...PROTOCOL_VERSIONS],
      cacheHints: {
        // The instructions contain the observation, which changes with every step.
        'server/discover': presented ? { ...CACHED, ttlMs: 0 } : CACHED,
        'tools/list': CACHED,
        'prompts/list': CACHED,
        'resources/list': CACHED,
        'resources/templates/list': CACHED,
      },
    },
  )
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(toolOnTheWire) }))
  if (state === null) return server
  server.setRequestHandler('resources/list', () => ({ resources: listResources(state) }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: listTemplates(state) }))
  server.setRequestHandler('prompts/list', () => ({ prompts: PROMPTS }))
  server.setRequestHandler('prompts/get', ({ params }) =>
    numbered(() => getPrompt({ instructions, tools, state }, params)),
  )
  server.setRequestHandler('completion/complete', ({ params }) =>
    numbered(() => complete(tools, params.ref, params.argument)),
  )
  return server
}
