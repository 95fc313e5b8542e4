import { jsonObjectSchema } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { jsonOf } from '@episodic/run/base/json'
import { createParser } from 'eventsource-parser'
import { z } from 'zod'
import { parseAnswer } from '../answers/parse-answer.ts'
import type { ToolCall } from '../messages/transcript.ts'
import { chatMessages, chatTool } from './chat-messages.ts'
import { plainName, plainTools } from './namespaces.ts'
import { type AnswerBody, type RecordedApi, temperatureOf } from './recorded-api.ts'

const requestSchema = z.object({
  model: z.string().catch('unknown'),
  instructions: z.string().nullish().catch(null),
  input: z.union([z.string(), z.array(jsonObjectSchema)]),
  tools: z.array(jsonObjectSchema).nullish().catch(null),
  temperature: z.unknown().optional(),
})

const texts = z
  .array(z.object({ text: z.string() }).nullable().catch(null))
  .nullish()
  .catch(null)
const outputSchema = z.object({
  type: z.string(),
  content: texts,
  summary: texts,
  call_id: z.string().nullish().catch(null),
  name: z.string().nullish().catch(null),
  namespace: z.string().nullish().catch(null),
  arguments: z.string().nullish().catch(null),
})
const responseSchema = z.object({
  id: z.unknown(),
  object: z.literal('response'),
  model: z.unknown(),
  status: z.string().nullish().catch(null),
  incomplete_details: z.object({ reason: z.string() }).nullish().catch(null),
  output: z.array(outputSchema.nullable().catch(null)),
  usage: z
    .object({
      input_tokens: z.unknown(),
      output_tokens: z.unknown(),
      total_tokens: z.unknown().optional(),
      input_tokens_details: z.unknown().optional(),
      output_tokens_details: z.unknown().optional(),
    })
    .nullish()
    .catch(null),
})

/**
 * The API of responses. A request is recorded as the messages of a chat that say the same, so that all lines are read
 * alike. What its server has kept of earlier requests is not known.
 */
export const responses: RecordedApi = {
  readRequest(body) {
    const parsed = requestSchema.safeParse(body)
    if (!parsed.success) return null
    const { model, instructions, input, tools } = parsed.data
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
    const system = instructions ? [{ role: 'system', content: instructions }] : []
    return {
      asked: model,
      request: {
        messages: [...system, ...chatMessages(items.filter(({ type }) => type !== 'additional_tools'))],
        tools: plainTools(tools ?? [], items).map(chatTool),
      },
      ...temperatureOf(parsed.data),
    }
  },
  createStream: createResponseStream,
  parse(value, prices) {
    const parsed = responseSchema.safeParse(value)
    if (!parsed.success || parsed.data.status === 'failed') return null
    const { id, model, status, incomplete_details, output, usage } = parsed.data
    const items = output.flatMap((item) => item ?? [])
    const calls = items.flatMap(({ type, call_id, name, namespace, arguments: args }): ToolCall[] =>
      type === 'function_call' && name
        ? [{ id: call_id ?? 'call', name: plainName(name, namespace), arguments: args ?? '' }]
        : [],
    )
    const textOf = (type: string) =>
      items
        .filter((item) => item.type === type)
        .flatMap(({ content, summary }) => [...(content ?? []), ...(summary ?? [])])
        .map((part) => part?.text ?? '')
        .join('\n')
    // The same figures and texts under the names of the other API.
    const message = {
      content: textOf('message'),
      reasoning: textOf('reasoning'),
      tool_calls: calls.map(({ id, ...call }) => ({ id, function: call })),
    }
    const counted = usage && {
      prompt_tokens: usage.input_tokens,
      completion_tokens: usage.output_tokens,
      total_tokens: usage.total_tokens,
      prompt_tokens_details: usage.input_tokens_details,
      completion_tokens_details: usage.output_tokens_details,
    }
    const finish = incomplete_details?.reason ?? status
    return parseAnswer({ id, model, usage: counted, choices: [{ message, finish_reason: finish }] }, prices)
  },
}

/** Events that have the whole response in them, and are the last. */
const LAST_EVENTS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete'])

/** Of a response that is broken off nothing is kept. */
function createResponseStream(): AnswerBody {
  let response: unknown = null
  const parser = createParser({
    onEvent({ data }) {
      const event = LAST_EVENT.test(data) ? jsonOf(data) : null
      if (isObject(event) && LAST_EVENTS.has(event.type)) response = event.response
    },
  })
  return { add: (text) => parser.feed(text), whole: () => response, part: () => response }
}

/** Most events are short, and need not be parsed. */
const LAST_EVENT = /"response\.(completed|incomplete)"/
