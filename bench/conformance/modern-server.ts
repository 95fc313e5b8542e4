import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { listPrompts, PROMPTS, RESOURCE_TEMPLATES, RESOURCES, readResource } from './catalogue.ts'
import { text } from './contents.ts'
import { getAskingPrompt, INPUT_TOOLS, type Retry } from './input-tools.ts'
import { type Arguments, type ConformanceTool, type Talk, TOOLS } from './tools.ts'

const INFO = { name: 'episodic-conformance', version: '1.0.0' }
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true },
  prompts: { listChanged: true },
  logging: {},
  completions: {},
}
const CACHED = { ttlMs: 60_000, cacheScope: 'private' } as const
const NO_INPUT = { type: 'object', properties: {} } as const
const codec = createRequestStateCodec<Record<string, unknown>>({ key: crypto.getRandomValues(new Uint8Array(32)) })

/** Notifies subscribed clients that a list has changed. */
export interface Notifier {
  toolsChanged(): void
  promptsChanged(): void
}

/** Creates the suite's server as an object of the SDK, for one request of the stateless protocol version. */
export function createModernServer(notifier: Notifier): Server {
  const server = new Server(INFO, {
    capabilities: CAPABILITIES,
    requestState: { verify: codec.verify },
    cacheHints: {
      'tools/list': CACHED,
      'prompts/list': CACHED,
      'resources/list': CACHED,
      'resources/templates/list': CACHED,
      'resources/read': CACHED,
      'server/discover': CACHED,
    },
  })
  const tools: Readonly<Record<string, Pick<ConformanceTool, 'call'>>> = { ...TOOLS, ...createModernTools(notifier) }
  server.setRequestHandler('tools/list', () => ({
    tools: [...Object.keys(tools), ...Object.keys(INPUT_TOOLS)].map((name) => ({
      name,
      description: TOOLS[name]?.description ?? 'A tool of the stateless protocol version.',
      inputSchema: TOOLS[name]?.inputSchema ?? NO_INPUT,
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const args = (params.arguments ?? {}) as Arguments
    const asking = INPUT_TOOLS[params.name]
    // The SDK checks questions before it sends them.
    if (asking) return (await asking(args, retryOf(context))) as never
    const tool = tools[params.name]
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`)
    return (await tool.call(args, talkOf(context))) as never
  })
  server.setRequestHandler('resources/list', () => ({ resources: RESOURCES }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: RESOURCE_TEMPLATES }))
  server.setRequestHandler('resources/read', ({ params }) => {
    const found = readResource(params.uri)
    if (!found) throw new ResourceNotFoundError(params.uri)
    return found
  })
  server.setRequestHandler('prompts/list', () => ({ prompts: listPrompts() }))
  server.setRequestHandler('prompts/get', async ({ params }, context) => {
    if (params.name === 'test_input_required_result_prompt') return (await getAskingPrompt(retryOf(context))) as never
    const prompt = PROMPTS[params.name]
    if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${params.name}.`)
    return prompt.get(params.arguments ?? {}) as never
  })
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park'], total: 2, hasMore: false },
  }))
  return server
}

/** The tools with which the suite tries what is new in this protocol version. */
function createModernTools(notifier: Notifier): Record<string, Pick<ConformanceTool, 'call'>> {
  const done = (body: string) => ({ content: [text(body)] })
  return {
    test_missing_capability: {
      async call() {
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } })
      },
    },
    test_streaming_elicitation: {
      async call(_, { progressToken, notify }) {
        await notify('notifications/progress', { progressToken, progress: 1 })
        return done('Nobody was asked on the way.')
      },
    },
    test_logging_tool: {
      async call(_, talk) {
        await talk.log('This is sent to clients that asked for it.')
        return done('Logged.')
      },
    },
    test_trigger_tool_change: {
      async call() {
        notifier.toolsChanged()
        return done('Notified.')
      },
    },
    test_trigger_prompt_change: {
      async call() {
        notifier.promptsChanged()
        return done('Notified.')
      },
    },
  }
}

function talkOf({ mcpReq }: ServerContext): Talk {
  return {
    progressToken: mcpReq._meta?.progressToken ?? 0,
    notify: (method, params) => mcpReq.notify({ method, params }),
    log: (message) => mcpReq.log('info', message),
    ask: async () => {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        'A server cannot send requests to the client in this protocol version.',
      )
    },
  }
}

function retryOf(context: ServerContext): Retry {
  const { inputResponses = {}, requestState, envelope } = context.mcpReq
  return {
    responses: inputResponses,
    state: requestState<Record<string, unknown>>(),
    capabilities: ((envelope as Retry['responses'])?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Retry['capabilities'],
    sign: (state) => codec.mint(state as Record<string, unknown>, context),
  }
}
