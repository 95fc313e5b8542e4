import { type ToolInfo, WireError } from '@episodic/protocol'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  type JSONRPCMessage,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js'
import type { PresentedState } from '../host/host.ts'
import { complete, getPrompt, PROMPTS } from './instructions.ts'
import { numbered } from './numbered-list.ts'
import { listResources, listTemplates } from './state-resource.ts'
import { toolOnTheWire } from './tool-schema.ts'

/** What an endpoint says of itself. */
export interface Advertisement {
  readonly name: string
  readonly title: string
  readonly version: string
  readonly instructions: string
  /** How the caller's session stands, where the instructions say it; `null` elsewhere. */
  readonly presented: PresentedState | null
  readonly tools: readonly ToolInfo[]
  /** The URI of the state of a world, or a template of it; `null` at the trainer endpoint, where the extension tells it. */
  readonly state: string | null
  /** The extension that the trainer endpoint speaks; `null` at the agent endpoint. */
  readonly extension: string | null
}

/** Protocol versions that the endpoints of this era negotiate, newest first. */
export const PROTOCOL_VERSIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS

/**
 * Answers one request for discovery or negotiation (`initialize`, `ping`, `tools/list`, …) with the MCP SDK.
 *
 * A server object is made for the one request and dropped after it: it costs some tens of microseconds where speed
 * does not matter, and leaves nothing behind for ten thousand sessions.
 */
export async function discover(advertisement: Advertisement, request: object): Promise<object> {
  const server = createLegacyServer(advertisement)
  return new Promise((resolve, reject) => {
    const transport: Transport = {
      async start() {},
      async send(message) {
        // The SDK says so of parameters that fail its schemas, with all that the schema has to say.
        if ('error' in message && message.error.code === ErrorCode.InternalError)
          reject(new WireError('invalid-params', 'These are not the parameters that MCP knows for this method.'))
        else resolve(message)
      },
      async close() {},
    }
    server.onerror = (cause) =>
      reject(new WireError('invalid-request', 'This is not a request that MCP knows the shape of.', { cause }))
    server.connect(transport).then(() => transport.onmessage?.(request as JSONRPCMessage), reject)
  })
}

/** A server object of the SDK that says what an endpoint says of itself, and lists what is there. */
function createLegacyServer(advertisement: Advertisement): Server {
  const { name, title, version, instructions, extension, tools, state } = advertisement
  const extensions = extension ? { [extension]: {} } : undefined
  const server = new Server(
    { name, title, version },
    {
      capabilities: {
        tools: {},
        ...(state !== null && AT_AGENTS),
        ...(extensions && { extensions, experimental: extensions }),
      },
      instructions,
    },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toolOnTheWire) }))
  if (state === null) return server
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: listResources(state) }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: listTemplates(state) }))
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: PROMPTS }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) =>
    numbered(() => getPrompt({ instructions, tools, state }, params)),
  )
  server.setRequestHandler(CompleteRequestSchema, ({ params: { ref, argument } }) =>
    numbered(() => complete(tools, ref, argument)),
  )
  return server
}

/** What is there at the agent endpoint besides tools, in either era. */
export const AT_AGENTS = { resources: { subscribe: true }, prompts: {}, completions: {} }
