import type { JsonObject } from '@episodic/protocol'
import { objectIn } from '../answers/parse-answer.ts'
import type { ChatBody } from '../requests/concessions.ts'
import { BadRequest, type Dialect, OPENAI_MODELS, openAiError, partsOf, type Reply } from './dialect.ts'

/** Fields that say how an answer is sent, and which the engine is asked for on our own account. */
const OWN = new Set(['stream', 'stream_options', 'n', 'logprobs', 'top_logprobs'])

export const chatCompletions: Dialect = {
  readRequest(body) {
    if (!Array.isArray(body.messages))
      throw new BadRequest('messages', 'messages is not a list. Send the messages of the chat.')
    if (typeof body.n === 'number' && body.n > 1) throw new BadRequest('n', `n is ${body.n}. Ask once for each answer.`)
    const chat = Object.fromEntries(Object.entries(body).filter(([name]) => !OWN.has(name)))
    return { chat: { ...chat, messages: partsOf(body.messages) } as ChatBody, isStreamed: body.stream === true }
  },
  toAnswer: (reply) => ({
    ...headOf(reply, 'chat.completion'),
    choices: [{ index: 0, message: messageOf(reply), logprobs: null, finish_reason: finishOf(reply) }],
    usage: usageOf(reply),
  }),
  toEvents(reply) {
    const { tool_calls: calls, ...message } = messageOf(reply)
    const numbered = Array.isArray(calls) && { tool_calls: calls.map((call, index) => ({ index, ...Object(call) })) }
    const head = headOf(reply, 'chat.completion.chunk')
    const chunk = (delta: object, finish_reason: string | null) => ({
      data: { ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }] },
    })
    const isCounted = objectIn(reply.body.stream_options).include_usage === true
    return [
      chunk({ ...message, ...numbered }, null),
      chunk({}, finishOf(reply)),
      ...(isCounted ? [{ data: { ...head, choices: [], usage: usageOf(reply) } }] : []),
      { data: '[DONE]' },
    ]
  },
  ...OPENAI_MODELS,
  toError: openAiError,
}

function headOf({ answer, id }: Reply, object: string): object {
  return { id: `chatcmpl-${id}`, object, created: 0, model: answer.completion.model }
}

function messageOf({ answer }: Reply): JsonObject {
  return { refusal: null, ...answer.message }
}

function finishOf({ answer }: Reply): string {
  return answer.calls.length > 0 ? 'tool_calls' : (answer.completion.finish ?? 'stop')
}

function usageOf({ answer: { completion } }: Reply): object {
  const { promptTokens, completionTokens, cachedTokens = 0, reasoningTokens = 0 } = completion
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  }
}
