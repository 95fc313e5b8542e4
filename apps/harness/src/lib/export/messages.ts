import type { JsonObject, ToolInfo } from '@episodic/protocol'
import type { Chat, Turn } from './chat.ts'
import type { ExportSource } from './export-format.ts'

/** How a format writes the arguments of a call: as an object, or as JSON text. */
export type ArgumentsAs = (args: JsonObject) => JsonObject | string

export const asObject: ArgumentsAs = (args) => args
export const asText: ArgumentsAs = (args) => JSON.stringify(args)

/** The messages of a chat, in the shape of OpenAI's chat completions. */
export function messagesOf(chat: Chat, argumentsAs: ArgumentsAs): object[] {
  return [openingOf(chat), ...chat.turns.flatMap((turn) => exchangeOf(turn, argumentsAs))]
}

export function openingOf({ opening }: Chat): object {
  return { role: 'user', content: opening }
}

/** A call and its result. */
export function exchangeOf({ id, tool, arguments: args, text, result }: Turn, argumentsAs: ArgumentsAs): object[] {
  return [
    {
      role: 'assistant',
      content: text,
      tool_calls: [{ id, type: 'function', function: { name: tool, arguments: argumentsAs(args) } }],
    },
    { role: 'tool', tool_call_id: id, name: tool, content: result },
  ]
}

/** The field `tools` of a line, as functions; no field if the tools are not known. */
export function toolsField({ tools }: ExportSource): { readonly tools?: readonly object[] } {
  return tools ? { tools: tools.map(asFunction) } : {}
}

function asFunction({ name, description, inputSchema }: ToolInfo): object {
  return { type: 'function', function: { name, description, parameters: inputSchema } }
}
