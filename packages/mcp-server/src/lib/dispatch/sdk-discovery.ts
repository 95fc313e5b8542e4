import { EXTENSION, WireError } from '@episodic/protocol'
import { invalidParams } from '@episodic/protocol/internal'
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
} from '@modelcontextprotocol/sdk/types.js'
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation'
import { type Advertisement, AT_AGENTS } from './advertisement.ts'
import { numbered, toolOnTheWire } from './discovery-answers.ts'
import { complete, getPrompt, PROMPTS } from './instructions.ts'
import { listResources, listTemplates } from './state-resource.ts'

/**
 * Answers one request for discovery or negotiation (`initialize`, `ping`, `tools/list`, …) with the MCP SDK.
 *
 * A server object is created for the one request and dropped after it: it costs some tens of microseconds, which do not
 * matter for discovery, and ten thousand sessions keep no such object.
 */
export async function discover(advertisement: Advertisement, request: object): Promise<object> {
  const server = createLegacyServer(advertisement)
  return new Promise((resolve, reject) => {
    const transport: Transport = {
      async start() {},
      async send(message) {
        // The SDK answers so if parameters fail its schemas, with the schema's whole report.
        if ('error' in message && message.error.code === ErrorCode.InternalError)
          reject(invalidParams('These are not the parameters that MCP knows for this method.'))
        else resolve(message)
      },
      async close() {},
    }
    server.onerror = (cause) =>
      reject(new WireError('invalid-request', 'This is not a request that MCP knows the shape of.', { cause }))
    server.connect(transport).then(() => transport.onmessage?.(request as JSONRPCMessage), reject)
  })
}

/** Creates a server object of the SDK that describes the endpoint and lists its tools, resources and prompts. */
function createLegacyServer(advertisement: Advertisement): Server {
  const { name, title, version, instructions, tools, state } = advertisement
  const extensions = { [EXTENSION]: {} }
  const server = new Server(
    { name, title, version },
    {
      capabilities: {
        tools: {},
        ...(state === null ? { extensions, experimental: extensions } : AT_AGENTS),
      },
      instructions,
      jsonSchemaValidator: NO_VALIDATOR,
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

/**
 * Would check what clients answer to questions, and these servers ask none. The SDK's default compiles the JSON Schema
 * of JSON Schema for each server object, which took half the time of an `initialize`.
 */
const NO_VALIDATOR: jsonSchemaValidator = {
  getValidator() {
    throw new Error('This server asks its clients nothing.')
  },
}
