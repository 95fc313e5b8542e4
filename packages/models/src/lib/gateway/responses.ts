import type { JsonObject } from '@episodic/protocol'
import { objectIn } from '../answers/parse-answer.ts'
import { namespacedName } from '../apis/namespaces.ts'
import { responses as recorded } from '../apis/responses-api.ts'
import {
  BadRequest,
  type Dialect,
  OPENAI_MODELS,
  openAiError,
  type Reply,
  renamed,
  type ServerSentEvent,
} from './dialect.ts'

const NAMES = {
  model: 'model',
  temperature: 'temperature',
  top_p: 'top_p',
  max_output_tokens: 'max_tokens',
  parallel_tool_calls: 'parallel_tool_calls',
}

/** OpenAI's Responses. Nothing is stored between requests. */
export const responses: Dialect = {
  readRequest(body) {
    if (typeof body.previous_response_id === 'string')
      throw new BadRequest(
        'previous_response_id',
        'previous_response_id names a response that is not stored. Send the whole input.',
      )
    if (body.conversation)
      throw new BadRequest('conversation', 'conversation names one that is not stored. Send the whole input.')
    if (body.background === true)
      throw new BadRequest('background', 'background is true, and an answer is given at once. Leave it out.')
    const read = recorded.readRequest(body)
    if (!read)
      throw new BadRequest('input', 'input is neither a text nor a list of items. Send the input of the response.')
    const { messages } = read.request
    // Those of a provider's server cannot be played here.
    const tools = read.request.tools.filter(({ type }) => type === 'function')
    const chosen = objectIn(body.tool_choice)
    const choice = chosen.type === 'function' ? { type: 'function', function: { name: chosen.name ?? '' } } : null
    return {
      chat: {
        ...renamed(body, NAMES),
        messages: [...messages],
        ...(tools.length > 0 && { tools: [...tools] }),
        ...(body.tool_choice && tools.length > 0 && { tool_choice: choice ?? body.tool_choice }),
        ...responseFormat(body),
      },
      isStreamed: body.stream === true,
    }
  },
  toAnswer: (reply) => responseOf(reply, outputOf(reply)),
  toEvents(reply) {
    const events: JsonObject[] = []
    const output = outputOf(reply)
    const begun = { ...responseOf(reply, []), status: 'in_progress', incomplete_details: null, usage: null }
    events.push({ type: 'response.created', response: begun }, { type: 'response.in_progress', response: begun })
    for (const [output_index, item] of output.entries()) {
      const at = { item_id: item.id ?? '', output_index }
      events.push({ type: 'response.output_item.added', output_index, item: { ...item, ...emptied(item) } })
      events.push(...partsOfItem(item, at))
      events.push({ type: 'response.output_item.done', output_index, item })
    }
    const whole = responseOf(reply, output)
    events.push({ type: `response.${whole.status}`, response: whole })
    return events.map(
      (event, sequence_number): ServerSentEvent => ({ event: String(event.type), data: { ...event, sequence_number } }),
    )
  },
  ...OPENAI_MODELS,
  toError: openAiError,
}

function responseFormat(body: JsonObject): JsonObject {
  const { type, ...schema } = objectIn(objectIn(body.text).format)
  if (type === 'json_schema') return { response_format: { type, json_schema: schema } }
  return type === 'json_object' ? { response_format: { type } } : {}
}

function outputOf({ answer: { completion, calls }, id, body }: Reply): JsonObject[] {
  const { text, reasoning } = completion
  const summary = [{ type: 'summary_text', text: reasoning ?? '' }]
  const content = [{ type: 'output_text', text: text ?? '', annotations: [], logprobs: [] }]
  return [
    ...(reasoning ? [{ type: 'reasoning', id: `rs_${id}`, summary, status: 'completed' }] : []),
    ...(text || calls.length === 0
      ? [{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content }]
      : []),
    ...calls.map((call, i) => ({
      type: 'function_call',
      id: `fc_${id}_${i}`,
      call_id: call.id,
      ...namespacedName(body, call.name),
      arguments: call.arguments,
      status: 'completed',
    })),
  ]
}

function responseOf({ answer: { completion }, id, body }: Reply, output: readonly JsonObject[]): JsonObject {
  const { promptTokens, completionTokens, cachedTokens = 0, reasoningTokens = 0 } = completion
  const isCut = completion.finish === 'length'
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: 0,
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    error: null,
    instructions: body.instructions ?? null,
    metadata: {},
    model: completion.model,
    output: [...output],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    temperature: body.temperature ?? null,
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? null,
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: cachedTokens },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: promptTokens + completionTokens,
    },
  }
}

/** What an item does not have yet when it begins. */
function emptied({ type }: JsonObject): JsonObject {
  const empty = { message: { content: [] }, reasoning: { summary: [] }, function_call: { arguments: '' } }
  return { status: 'in_progress', ...empty[type as keyof typeof empty] }
}

function partsOfItem(item: JsonObject, at: JsonObject): JsonObject[] {
  if (item.type === 'function_call') {
    const { name = '', arguments: args = '' } = item
    return [
      { type: 'response.function_call_arguments.delta', ...at, delta: args },
      { type: 'response.function_call_arguments.done', ...at, name, arguments: args },
    ]
  }
  const isMessage = item.type === 'message'
  const [part] = (isMessage ? item.content : item.summary) as [JsonObject]
  const { text = '' } = part
  const index: JsonObject = isMessage ? { content_index: 0 } : { summary_index: 0 }
  const kind = isMessage ? 'content_part' : 'reasoning_summary_part'
  const texts = isMessage ? 'output_text' : 'reasoning_summary_text'
  const logprobs: JsonObject = isMessage ? { logprobs: [] } : {}
  return [
    { type: `response.${kind}.added`, ...at, ...index, part: { ...part, text: '' } },
    { type: `response.${texts}.delta`, ...at, ...index, delta: text, ...logprobs },
    { type: `response.${texts}.done`, ...at, ...index, text, ...logprobs },
    { type: `response.${kind}.done`, ...at, ...index, part },
  ]
}
