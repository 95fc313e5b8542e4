import { type Action, type JsonObject, jsonObjectSchema, type ToolInfo } from '@episodic/protocol'
import { z } from 'zod'
import { parseReply } from '../session/reply.ts'

export interface OpenEnvTools {
  readonly tools: readonly ToolInfo[]
  /** Returns the action of a call; `null` for a tool that there is not. */
  actionOf(action: Action): JsonObject | null
}

const listSchema = z.object({
  tools: z.array(z.object({ name: z.string(), description: z.string().nullish(), input_schema: jsonObjectSchema })),
})

/** The action that lists the tools. It is no step of an episode. */
export const LIST_TOOLS: JsonObject = { type: 'list_tools' }

export function callsTools({ properties = {} }: JsonObject): boolean {
  return ['tool_name', 'arguments'].every((name) => Object.hasOwn(properties as JsonObject, name))
}

/** Returns the tools in the answer to `LIST_TOOLS`. Throws `reply-malformed`. */
export function listedTools(observation: JsonObject): OpenEnvTools {
  const { tools } = parseReply(listSchema, observation, 'list_tools')
  return {
    tools: tools.map(({ name, description, input_schema: inputSchema }) => ({
      name,
      description: description ?? '',
      inputSchema,
      outputSchema: null,
    })),
    // The server knows its tools better than a list that was read once.
    actionOf: ({ tool, arguments: args }) => ({ type: 'call_tool', tool_name: tool, arguments: args }),
  }
}

/** Returns one tool, `step`, whose arguments are an action of a schema, and its answer an observation of another. */
export function stepTool({ properties = {}, ...schema }: JsonObject, answers: JsonObject | null = null): OpenEnvTools {
  // Every action has metadata, which no environment needs.
  const { metadata: _, ...own } = properties as JsonObject
  const description = typeof schema.description === 'string' ? schema.description : 'Takes an action.'
  return {
    tools: [{ name: 'step', description, inputSchema: { ...schema, properties: own }, outputSchema: answers }],
    actionOf: ({ tool, arguments: args }) => (tool === 'step' ? args : null),
  }
}
