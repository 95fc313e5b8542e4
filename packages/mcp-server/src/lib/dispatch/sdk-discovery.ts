import { EXTENSION, WireError } from '@episodic/protocol'
import { invalidParams, MODERN_VERSION } from '@episodic/protocol/internal'
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  type jsonSchemaValidator,
  PerRequestHTTPServerTransport,
  Server,
  type ServerOptions,
  type Transport,
} from '@modelcontextprotocol/server'
import { getPrompt, PROMPTS } from './instructions.ts'
import { type Advertisement, AT_AGENTS, numbered, toolOnTheWire } from './server-info.ts'
import { listResources, listTemplates } from './state-resource.ts'

/** Most lists do not change while a server runs, so clients may cache them. */
const CACHED = { ttlMs: 300_000, cacheScope: 'private' } as const
const UNCACHED = { ...CACHED, ttlMs: 0 } as const
/** JSON-RPC's code for a fault of the server. The SDK answers so, with a report, to parameters of a wrong shape. */
const INTERNAL = -32_603

/**
 * Answers one request for discovery or negotiation (`initialize`, `server/discover`, `tools/list`, …) with the MCP SDK,
 * as the stateless version has it if `modern`.
 *
 * A server object is created for the one request and dropped after it: it costs some tens of microseconds, which do not
 * matter for discovery, and ten thousand sessions keep no such object.
 */
export async function discover(advertisement: Advertisement, request: object, modern: boolean): Promise<object> {
  const answer = await (modern ? answerModern : answerLegacy)(createServer(advertisement, modern), request)
  if ('error' in answer && (answer.error as { code: number }).code === INTERNAL)
    throw invalidParams('These are not the parameters that MCP knows for this method.')
  return answer
}

async function answerModern(server: Server, request: object): Promise<object> {
  const transport = new PerRequestHTTPServerTransport({
    classification: { era: 'modern', revision: MODERN_VERSION },
    responseMode: 'json',
  })
  await server.connect(transport)
  return (await (await transport.handleMessage(request as JSONRPCRequest)).json()) as object
}

function answerLegacy(server: Server, request: object): Promise<object> {
  return new Promise((resolve, reject) => {
    const transport: Transport = { async start() {}, send: async (message) => resolve(message), async close() {} }
    server.onerror = (cause) =>
      reject(new WireError('invalid-request', 'This is not a request that MCP knows the shape of.', { cause }))
    server.connect(transport).then(() => transport.onmessage?.(request as JSONRPCMessage), reject)
  })
}

function createServer(advertisement: Advertisement, modern: boolean): Server {
  const { name, title, version, instructions, tools, state } = advertisement
  const server = new Server({ name, title, version }, optionsOf(advertisement, modern))
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(toolOnTheWire) }))
  if (state === null) return server
  server.setRequestHandler('resources/list', () => ({ resources: listResources(state) }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: listTemplates(state) }))
  server.setRequestHandler('prompts/list', () => ({ prompts: PROMPTS }))
  server.setRequestHandler('prompts/get', ({ params }) =>
    numbered(() => getPrompt({ instructions, tools, state }, params)),
  )
  return server
}

function optionsOf(advertisement: Advertisement, modern: boolean): ServerOptions {
  const { instructions, presented, state, toolsChange } = advertisement
  const extensions = { [EXTENSION]: {} }
  const tools = toolsChange ? { listChanged: true } : {}
  if (!modern)
    return {
      capabilities: { tools, ...(state === null ? { extensions, experimental: extensions } : AT_AGENTS) },
      instructions,
      jsonSchemaValidator: NO_VALIDATOR,
    }
  return {
    capabilities: { tools, ...(state === null ? { extensions } : AT_AGENTS) },
    instructions,
    supportedProtocolVersions: [MODERN_VERSION],
    cacheHints: {
      // The instructions contain the observation, which changes with every step.
      'server/discover': presented ? UNCACHED : CACHED,
      'tools/list': toolsChange ? UNCACHED : CACHED,
      'prompts/list': CACHED,
      'resources/list': CACHED,
      'resources/templates/list': CACHED,
    },
  }
}

/** Would check what clients answer to questions, and these servers ask none. */
const NO_VALIDATOR: jsonSchemaValidator = {
  getValidator() {
    throw new Error('This server asks its clients nothing.')
  },
}
