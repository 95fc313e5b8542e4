import { EXTENSION } from '@episodic/protocol'
import { invalidParams, MODERN_VERSION } from '@episodic/protocol/internal'
import { type JSONRPCRequest, PerRequestHTTPServerTransport, Server } from '@modelcontextprotocol/server'
import { type Advertisement, AT_AGENTS, EXTENSIONS } from './advertisement.ts'
import { numbered, toolOnTheWire } from './discovery-answers.ts'
import { complete, getPrompt, PROMPTS } from './instructions.ts'
import { listResources, listTemplates } from './state-resource.ts'

/** Lists do not change while a server runs, so clients may cache them. */
const CACHED = { ttlMs: 300_000, cacheScope: 'private' } as const

/**
 * Answers one request for discovery in the stateless version (`server/discover`, `tools/list`, …) with the MCP SDK for
 * it.
 *
 * As in the session-based version, a server object is created for the one request and dropped after it.
 */
export async function discoverModern(advertisement: Advertisement, request: object): Promise<object> {
  const server = createModernServer(advertisement)
  const transport = new PerRequestHTTPServerTransport({
    classification: { era: 'modern', revision: MODERN_VERSION },
    responseMode: 'json',
  })
  await server.connect(transport)
  const answer = (await (await transport.handleMessage(request as JSONRPCRequest)).json()) as object
  if ('error' in answer && (answer.error as { code: number }).code === INTERNAL)
    throw invalidParams('These are not the parameters that MCP knows for this method.')
  return answer
}

/** Creates a server object of the SDK that describes the endpoint and lists its tools, resources and prompts. */
function createModernServer(advertisement: Advertisement): Server {
  const { name, title, version, instructions, presented, tools, state } = advertisement
  const server = new Server(
    { name, title, version },
    {
      capabilities: {
        tools: {},
        ...(state === null ? { extensions: { [EXTENSION]: {} } } : { ...AT_AGENTS, extensions: EXTENSIONS }),
      },
      instructions,
      supportedProtocolVersions: [MODERN_VERSION],
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

const INTERNAL = -32603
