import { EnvError } from '@episodic/env'
import { listAll } from '@episodic/env/internal'
import { type Channel, type JsonObject, jsonObjectSchema, type ToolInfo, WireError } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/internal'
import { z } from 'zod'

export type ListedTool = Pick<ToolInfo, 'name' | 'description' | 'inputSchema'> & {
  readonly annotations?: JsonObject | undefined
}

/** Methods by which a server shows more than tools, each with the name of the tool that a player has for it. */
const PLAYERS_NAMES: Readonly<Record<string, string>> = {
  'resources/list': 'list_resources',
  'resources/read': 'read_resource',
  'prompts/list': 'list_prompts',
  'prompts/get': 'get_prompt',
  'tools/list': 'list_tools',
  'tools/call': 'call_tool',
}

export function playersName(tool: string): string {
  return PLAYERS_NAMES[tool] ?? tool
}

export function toolsOfMethods({ resources = false, prompts = false, toolList = false }): ListedTool[] {
  const uri = { type: 'string', description: 'The URI of a resource, or a template of one that is filled in.' }
  const name = { type: 'string' }
  const texts = { type: 'object', additionalProperties: { type: 'string' } }
  return [
    ...(resources
      ? [
          reading('resources/list', 'List the resources that can be read, and the templates of more.'),
          reading('resources/read', 'Read a resource.', { uri }, ['uri']),
        ]
      : []),
    ...(prompts
      ? [
          reading('prompts/list', 'List the prompts that there are, with their arguments.'),
          reading('prompts/get', 'Get the messages of a prompt.', { name, arguments: texts }, ['name']),
        ]
      : []),
    ...(toolList
      ? [
          reading('tools/list', 'List the tools that there are now, with their arguments. The list may change.'),
          methodTool('tools/call', 'Call a tool of the list by its name.', { name, arguments: { type: 'object' } }, [
            'name',
          ]),
        ]
      : []),
  ]
}

function methodTool(name: string, description: string, properties: JsonObject = {}, required?: string[]): ListedTool {
  return { name, description, inputSchema: { type: 'object', properties, ...(required && { required }) } }
}

function reading(...method: Parameters<typeof methodTool>): ListedTool {
  return { ...methodTool(...method), annotations: { readOnlyHint: true } }
}

export interface AskOptions {
  readonly signal: AbortSignal
  /** Names the call in reports of its progress. Default: the server is asked for none. */
  readonly progressToken?: string | undefined
}

/** Calls a tool of a server, or one of its other methods. Resolves with what the server answered, as tools answer. */
export async function ask(
  channel: Channel,
  tool: string,
  args: JsonObject,
  { signal, progressToken }: AskOptions,
): Promise<unknown> {
  const call = (params: JsonObject) => {
    const sent = { ...params, ...(progressToken !== undefined && { _meta: { progressToken } }) }
    return channel.request('tools/call', sent, { signal })
  }
  switch (tool) {
    case 'tools/list':
      return shown({ tools: await listAll(channel, tool, 'tools', signal) })
    case 'tools/call':
      return call({ name: args.name ?? '', arguments: args.arguments ?? {} })
    case 'resources/list':
      return shown({
        resources: await listAll(channel, 'resources/list', 'resources', signal),
        // Not every server with resources has templates, and some refuse to say so.
        templates: await listAll(channel, 'resources/templates/list', 'resourceTemplates', signal).catch((error) => {
          if (WireError.is(error)) return []
          throw error
        }),
      })
    case 'prompts/list':
      return shown({ prompts: await listAll(channel, tool, 'prompts', signal) })
    case 'resources/read': {
      const { contents } = read(resourceSchema, await channel.request(tool, args, { signal }), tool)
      return { content: contents.map((resource) => ({ type: 'resource', resource })) }
    }
    case 'prompts/get': {
      const { messages } = read(promptSchema, await channel.request(tool, args, { signal }), tool)
      return { content: messages.flatMap(({ role, content }) => [{ type: 'text', text: `${role}:` }, content]) }
    }
    default:
      return call({ name: tool, arguments: args })
  }
}

const resourceSchema = z.object({ contents: z.array(jsonObjectSchema) })
const promptSchema = z.object({ messages: z.array(z.object({ role: z.string(), content: jsonObjectSchema })) })

function shown(lists: JsonObject) {
  return { content: [{ type: 'text', text: JSON.stringify(lists) }] }
}

export function read<S extends z.ZodType>(schema: S, reply: unknown, method: string): z.output<S> {
  const { data, error } = schema.safeParse(reply)
  if (!error) return data as z.output<S>
  throw new EnvError('reply-malformed', `The server's answer to ${method} is malformed: ${formatZodError(error)}.`, {
    cause: error,
  })
}
