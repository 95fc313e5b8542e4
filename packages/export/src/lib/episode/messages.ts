import { type EpisodeRecord, type JsonObject, requestsOf } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { objectOf } from '@episodic/run/base/json'
import type { ExportSource } from '../export-format.ts'
import type { Message } from './conversation.ts'

/**
 * A message in the shape of OpenAI's chat completions, with the arguments of calls as objects: those that are no JSON
 * object are kept as `{ "text": … }`.
 */
export function chatMessage({ role, content, calls, callId, tool }: Message): object {
  if (role === 'tool') return { role, tool_call_id: callId, ...(tool !== undefined && { name: tool }), content }
  if (!calls) return { role, content }
  return {
    role,
    content,
    tool_calls: calls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: objectOf(args) ?? { text: args } },
    })),
  }
}

export interface FunctionTool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
}

/** All tools that a language model was sent, where that is recorded, else those of the world; `null` if not known. */
export function toolsOf(record: EpisodeRecord, { tools }: ExportSource): readonly FunctionTool[] | null {
  const sent = new Set(requestsOf(record).flatMap((request) => request?.tools ?? []))
  const byName = new Map([...sent].map(parseTool).map((tool) => [tool.name, tool]))
  if (byName.size > 0) return [...byName.values()]
  return tools?.map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema })) ?? null
}

function parseTool({ function: declared }: JsonObject): FunctionTool {
  const { name, description, parameters } = isObject(declared) ? declared : {}
  return {
    name: String(name ?? ''),
    description: String(description ?? ''),
    parameters: isObject(parameters) ? parameters : { type: 'object' },
  }
}

/** The field `tools` of a line, as functions; no field if the tools are not known. */
export function toolsField(record: EpisodeRecord, source: ExportSource): { readonly tools?: readonly object[] } {
  const tools = toolsOf(record, source)
  return tools ? { tools: tools.map((tool) => ({ type: 'function', function: tool })) } : {}
}
