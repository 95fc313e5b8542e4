import type { Json, JsonObject } from '@episodic/protocol'
import { isObject, toText } from '@episodic/protocol/internal'
import { objectIn } from '../answers/parse-answer.ts'
import { assistant } from '../messages/transcript.ts'
import {
  argumentsOf,
  BadRequest,
  contentOf,
  type Dialect,
  type Part,
  partsOf,
  type Reply,
  renamed,
  type ServerSentEvent,
  toolCallOf,
} from './dialect.ts'

const NAMES = {
  model: 'model',
  max_tokens: 'max_tokens',
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  stop_sequences: 'stop',
}

/** Claude Code begins its instructions with a line that is another one in each request, which no cache survives. */
const BILLING = /^\s*x-anthropic-billing-header:[^\n]*\n?/i

/** Signs thoughts, as clients require. It is never sent to a model. */
const SIGNATURE = 'ZXBpc29kaWM='

export const messages: Dialect = {
  readRequest(body) {
    if (!Array.isArray(body.messages))
      throw new BadRequest('messages', 'messages is not a list. Send the messages of the chat.')
    const system = partsOf(body.system)
      .map(({ text }) => toText(text).replace(BILLING, ''))
      .filter((text) => text !== '')
      .join('\n')
    // Tools that Anthropic's servers run have no schema.
    const tools = partsOf(body.tools).filter(({ input_schema: schema }) => isObject(schema))
    const choice = objectIn(body.tool_choice)
    return {
      chat: {
        ...renamed(body, NAMES),
        messages: [
          ...(system === '' ? [] : [{ role: 'system', content: system }]),
          ...partsOf(body.messages).flatMap(({ role, content }) =>
            role === 'assistant' ? [ownMessage(partsOf(content))] : userMessages(partsOf(content)),
          ),
        ],
        ...(tools.length > 0 && { tools: tools.map(chatTool) }),
        ...(tools.length > 0 && choice.type !== undefined && { tool_choice: chatChoice(choice) }),
        ...(choice.disable_parallel_tool_use === true && { parallel_tool_calls: false }),
      },
      isStreamed: body.stream === true,
    }
  },
  toAnswer: (reply) => ({ ...messageOf(reply), content: blocksOf(reply) }),
  toEvents(reply) {
    const whole = messageOf(reply)
    const started = { ...whole, content: [], stop_reason: null, usage: { ...usageOf(reply), output_tokens: 0 } }
    const { stop_reason, stop_sequence } = whole
    const events: JsonObject[] = [
      { type: 'message_start', message: started },
      ...blocksOf(reply).flatMap(blockEvents),
      { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: usageOf(reply) },
      { type: 'message_stop' },
    ]
    return events.map((data): ServerSentEvent => ({ event: String(data.type), data }))
  },
  toModel,
  toModels(ids) {
    const [first_id = null, last_id = null] = [ids[0], ids.at(-1)]
    return { data: ids.map(toModel), has_more: false, first_id, last_id }
  },
  toError: (status, message) => ({ type: 'error', error: { type: ERRORS[status] ?? 'api_error', message } }),
}

function toModel(id: string): object {
  return { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }
}

const ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

function chatTool({ name = '', description = '', input_schema: parameters = {} }: Part): JsonObject {
  return { type: 'function', function: { name, description, parameters } }
}

function chatChoice({ type, name = '' }: JsonObject): Json {
  if (type === 'tool') return { type: 'function', function: { name } }
  return type === 'any' ? 'required' : type === 'none' ? 'none' : 'auto'
}

function ownMessage(blocks: readonly Part[]): JsonObject {
  const of = (kind: string) => blocks.filter(({ type }) => type === kind)
  const text = of('text').map((block) => toText(block.text))
  const thought = of('thinking').map(({ thinking }) => toText(thinking))
  const calls = of('tool_use').map(({ id, name, input }) => toolCallOf(id, name, input))
  return assistant(text.join('\n'), calls, thought.join('\n'))
}

/** Results of tools become messages of their own, before what the user says beside them. */
function userMessages(blocks: readonly Part[]): JsonObject[] {
  const results = blocks.filter(({ type }) => type === 'tool_result')
  const said = blocks.filter(({ type }) => type !== 'tool_result').map(chatPart)
  return [
    ...results.map(({ tool_use_id: id = '', content }) => ({
      role: 'tool',
      tool_call_id: id,
      content: contentOf(partsOf(content).map(chatPart)),
    })),
    ...(said.length > 0 ? [{ role: 'user', content: contentOf(said) }] : []),
  ]
}

function chatPart(block: Part): Part {
  const { type, text = '' } = block
  if (type === 'text') return { type, text }
  const { type: kind, media_type: media = 'image/png', data = '', url = '' } = objectIn(block.source)
  const address = kind === 'url' ? url : `data:${toText(media)};base64,${toText(data)}`
  if (type === 'image') return { type: 'image_url', image_url: { url: address } }
  // An engine has nothing like it, and the model may read it.
  return { type: 'text', text: JSON.stringify(block) }
}

function blocksOf({ answer: { completion, calls } }: Reply): JsonObject[] {
  const { text, reasoning } = completion
  return [
    ...(reasoning ? [{ type: 'thinking', thinking: reasoning, signature: SIGNATURE }] : []),
    ...(text || calls.length === 0 ? [{ type: 'text', text: text ?? '' }] : []),
    ...calls.map(({ id, name, arguments: args }) => ({ type: 'tool_use', id, name, input: argumentsOf(args) })),
  ]
}

function messageOf(reply: Reply) {
  const { answer, id } = reply
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: answer.completion.model,
    content: [] as Json[],
    stop_reason: answer.calls.length > 0 ? 'tool_use' : (STOPS[answer.finish] ?? 'end_turn'),
    stop_sequence: null,
    usage: usageOf(reply),
  }
}

const STOPS: Readonly<Record<string, string>> = { length: 'max_tokens', content_filter: 'refusal' }

/** Anthropic's count of what was read is without the cache. */
function usageOf({ answer: { completion } }: Reply): JsonObject {
  const { promptTokens, completionTokens, cachedTokens = 0 } = completion
  return {
    input_tokens: Math.max(0, promptTokens - cachedTokens),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
  }
}

function blockEvents(block: JsonObject, index: number): JsonObject[] {
  const { type = '' } = block
  const begun: JsonObject =
    type === 'tool_use'
      ? { ...block, input: {} }
      : type === 'text'
        ? { type, text: '' }
        : { type, thinking: '', signature: '' }
  const deltas: JsonObject[] =
    type === 'tool_use'
      ? [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
      : type === 'text'
        ? [{ type: 'text_delta', text: block.text ?? '' }]
        : [
            { type: 'thinking_delta', thinking: block.thinking ?? '' },
            { type: 'signature_delta', signature: block.signature ?? '' },
          ]
  return [
    { type: 'content_block_start', index, content_block: begun },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}
