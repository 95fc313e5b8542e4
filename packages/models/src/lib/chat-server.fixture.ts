import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { nextGuess } from './bisect.fixture.ts'

/** A request for a completion, as far as these tests look at it. */
export interface ChatRequest {
  readonly model: string
  readonly seed: number
  readonly messages: readonly { readonly role: string; readonly content: string | null }[]
  readonly tools: readonly { readonly function: { readonly name: string; readonly parameters: object } }[]
  readonly [option: string]: unknown
}

/** Answers one request: with the body of an answer, or by itself. `number` counts the requests from 0. */
export type Answering = (
  request: ChatRequest,
  number: number,
  response: ServerResponse,
  incoming: IncomingMessage,
) => object | null | Promise<object | null>

/** A server that speaks the API of chat completions, on a port of its own. */
export interface ChatServer extends AsyncDisposable {
  /** Root of the API. */
  readonly url: string
  readonly requests: readonly ChatRequest[]
}

export async function startChatServer(answer: Answering): Promise<ChatServer> {
  const requests: ChatRequest[] = []
  const server = createServer(async (incoming, response) => {
    const request: ChatRequest = JSON.parse(await text(incoming))
    requests.push(request)
    const body = await answer(request, requests.length - 1, response, incoming)
    if (!body) return
    if (request.stream) await stream(body as Parameters<typeof stream>[0], response)
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * Sends an answer as a stream of events that splits its texts, and with its usage in an event of its own. As vLLM does,
 * the ids of the prompt come with the first event, and each written token with one; as SGLang does, `sglext` comes at
 * the end.
 */
async function stream(
  body: {
    readonly choices: [{ readonly message: Streamed; readonly finish_reason: string } & StreamedTokens]
    readonly usage: object
    readonly prompt_token_ids?: readonly number[]
    readonly sglext?: object
  },
  response: ServerResponse,
): Promise<void> {
  const { choices, usage, prompt_token_ids, sglext, ...rest } = body
  const [{ message, finish_reason, token_ids = [], logprobs }] = choices
  const { content, reasoning, tool_calls = [] } = message
  const deltas = [
    ...halves(reasoning).map((part) => ({ reasoning: part })),
    ...halves(content).map((part) => ({ content: part })),
    ...tool_calls.flatMap(({ id, type, function: { name, arguments: args } }, index) => [
      { tool_calls: [{ index, id, type, function: { name, arguments: '' } }] },
      ...halves(args).map((part) => ({ tool_calls: [{ index, function: { arguments: part } }] })),
    ]),
  ]
  const tokens = token_ids.map((id, i) => ({
    token_ids: [id],
    ...(logprobs && { logprobs: { content: logprobs.content.slice(i, i + 1) } }),
  }))
  const events = [
    { ...(prompt_token_ids && { prompt_token_ids }), choices: [{ index: 0, delta: { role: 'assistant' } }] },
    ...deltas.map((delta, i) => ({ choices: [{ index: 0, delta, finish_reason: null, ...tokens[i] }] })),
    ...tokens.slice(deltas.length).map((token) => ({ choices: [{ index: 0, delta: {}, ...token }] })),
    { choices: [{ index: 0, delta: {}, finish_reason }] },
    ...(sglext ? [{ choices: [], sglext }] : []),
    { choices: [], usage },
  ].map((event) => JSON.stringify({ ...rest, object: 'chat.completion.chunk', ...event }))
  response.setHeader('content-type', 'text/event-stream; charset=utf-8')
  // One at a time: what stands between may keep none back until the next.
  for (const event of [...events, '[DONE]'])
    await new Promise<void>((resolve) => response.write(`data: ${event}\n\n`, () => resolve()))
  response.end()
}

interface StreamedTokens {
  readonly token_ids?: readonly number[]
  readonly logprobs?: { readonly content: readonly object[] }
}

interface Streamed {
  readonly content: string | null
  readonly reasoning?: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly type: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
}

function halves(text: string | null = null): string[] {
  if (!text) return []
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

/** The body of an answer that calls a tool. */
export function calling(name: string, args: string | object, rest: object = {}): object {
  const call = { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }
  const message = { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: call }] }
  return saying(message, 'tool_calls', rest)
}

/** The body of an answer, of a thousand tokens read and ten written. */
export function saying(
  message: object,
  finish = 'stop',
  { choice = {}, ...rest }: { choice?: object; metadata?: object } = {},
): object {
  return {
    id: 'chat_1',
    object: 'chat.completion',
    created: 0,
    model: 'served-model',
    choices: [{ index: 0, finish_reason: finish, message, ...choice }],
    usage: { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 },
    ...rest,
  }
}

/** Plays number-guessing by bisection, using only the messages of the request. */
export function bisecting({ messages }: ChatRequest): object {
  return calling('guess', { value: nextGuess(messages.map(({ content }) => content ?? '').join('\n')) })
}
