import type { Json, JsonObject } from '@episodic/protocol'
import { isObject, toText } from '@episodic/protocol/internal'
import { joinTexts } from '../messages/media-parts.ts'
import { plainName } from './namespaces.ts'

/**
 * Returns items of the API of responses as the messages of a chat that say the same: calls belong to the message of the
 * assistant before them, and so does a reasoning that is readable. Items of any other kind are left as they are.
 */
export function chatMessages(items: readonly JsonObject[]): JsonObject[] {
  const messages: JsonObject[] = []
  /** The turn of the assistant that the next item may continue: the last message. */
  const turn = (): { content: Json; reasoning?: string; tool_calls?: JsonObject[] } => {
    const last = messages.at(-1)
    if (last?.role === 'assistant') return last as ReturnType<typeof turn>
    const begun = { role: 'assistant', content: null }
    messages.push(begun)
    return begun
  }
  for (const item of items) {
    const { type = 'message', role, content, call_id: callId, name, arguments: args, output, summary } = item
    if (type === 'message' && role === 'assistant') {
      const begun = turn()
      begun.content = [begun.content, joinTexts(content)].filter(Boolean).join('\n') || null
    } else if (type === 'message') messages.push({ role: role ?? 'user', content: partsOf(content) })
    else if (type === 'reasoning') {
      const reasoning = joinTexts(summary ?? content)
      if (reasoning) turn().reasoning = reasoning
    } else if (type === 'function_call') {
      const begun = turn()
      const called = plainName(toText(name), item.namespace)
      const call = { id: callId ?? 'call', type: 'function', function: { name: called, arguments: args ?? '' } }
      begun.tool_calls = [...(begun.tool_calls ?? []), call]
    } else if (type === 'function_call_output')
      messages.push({ role: 'tool', tool_call_id: callId ?? 'call', content: partsOf(output) })
    else messages.push(item)
  }
  return messages
}

/** Tools that the server runs are left as they are. */
export function chatTool(tool: JsonObject): JsonObject {
  const { type, ...declared } = tool
  return type === 'function' && !('function' in tool) ? { type, function: declared } : tool
}

function partsOf(content: Json | undefined): Json {
  if (!Array.isArray(content)) return content ?? null
  const isText = (part: unknown) =>
    isObject(part) && typeof part.type === 'string' && /^(in|out)put_text$/.test(part.type)
  if (content.every(isText)) return joinTexts(content)
  return content.map((part) => (isText(part) ? { type: 'text', text: joinTexts([part]) } : part))
}
