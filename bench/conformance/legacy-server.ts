import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  ServerRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { listPrompts, PROMPTS, RESOURCE_TEMPLATES, RESOURCES, readResource } from './catalogue.ts'
import { type Arguments, type Talk, TOOLS } from './tools.ts'

const INFO = { name: 'episodic-conformance', version: '1.0.0' }
const CAPABILITIES = { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} }

/** Creates the suite's server as an object of the SDK, for the session-based protocol version. */
export function createLegacyServer(): Server {
  const server = new Server(INFO, { capabilities: CAPABILITIES })
  const none = async () => ({})
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(TOOLS).map(([name, { description, inputSchema }]) => ({ name, description, inputSchema })),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const notify: Talk['notify'] = (method, content) =>
      extra.sendNotification({ method, params: content } as Parameters<typeof extra.sendNotification>[0])
    const talk: Talk = {
      progressToken: extra._meta?.progressToken ?? 0,
      notify,
      log: (data) => notify('notifications/message', { level: 'info', data }),
      ask: (method, content) =>
        extra.sendRequest(ServerRequestSchema.parse({ method, params: content }), z.looseObject({})),
    }
    const tool = TOOLS[params.name]
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name}.`)
    return tool.call((params.arguments ?? {}) as Arguments, talk)
  })
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: RESOURCES }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: RESOURCE_TEMPLATES }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => {
    const found = readResource(params.uri)
    if (!found) throw new McpError(-32002, 'There is no such resource.', { uri: params.uri })
    return found
  })
  server.setRequestHandler(SubscribeRequestSchema, none)
  server.setRequestHandler(UnsubscribeRequestSchema, none)
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: listPrompts() }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = PROMPTS[params.name]
    if (!prompt) throw new McpError(ErrorCode.InvalidParams, `There is no prompt ${params.name}.`)
    return prompt.get(params.arguments ?? {})
  })
  server.setRequestHandler(SetLevelRequestSchema, none)
  server.setRequestHandler(CompleteRequestSchema, () => ({
    completion: { values: ['paris', 'park'], total: 2, hasMore: false },
  }))
  return server
}
