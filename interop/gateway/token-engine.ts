import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** An answer as the engine sampled it. */
export interface Sampled {
  readonly prompt: readonly number[]
  readonly ids: readonly number[]
  readonly scores: readonly number[]
}

interface Message {
  readonly role: string
  readonly content?: unknown
  readonly prompt_token_ids?: readonly number[]
  readonly generation_token_ids?: readonly number[]
}

interface EngineRequest {
  readonly messages: readonly Message[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

/** A server of chat completions that says which tokens it read and sampled, on a port of its own. */
export interface TokenEngine extends AsyncDisposable {
  /** Root of its API. */
  readonly url: string
  /** What it sampled, by the text of the answer. */
  readonly sampled: ReadonlyMap<string, Sampled>
}

export interface EngineOptions {
  /** Calls of a tool in a conversation before its last answer. Default: 3. */
  readonly turns?: number
  /** Tokens of an answer. Default: between 1 and 7. */
  readonly tokens?: number
  /** Whether it begins a prompt with the tokens that a message has, as the servers of NeMo RL do. Default: `true`. */
  readonly splices?: boolean
  /** Called with the number of a request, and of an answer that was sent. */
  readonly onRequest?: (number: number) => void
  readonly onAnswered?: (number: number) => void
}

/**
 * Starts an engine whose model calls the first tool of a world until it has had enough answers, and then says so. It
 * samples tokens that no tokenizer would choose; of what it is sent as text each letter is a token.
 */
export async function startTokenEngine({
  turns = 3,
  tokens,
  splices = true,
  onRequest,
  onAnswered,
}: EngineOptions = {}): Promise<TokenEngine> {
  const sampled = new Map<string, Sampled>()
  let requests = 0
  const server = createServer(async (incoming, response) => {
    const { messages, tools = [] } = (await json(incoming)) as EngineRequest
    const number = ++requests
    onRequest?.(number)
    const text = `Answer ${number}.`
    const ids = Array.from({ length: tokens ?? 1 + (number % 7) }, (_, i) => 100_000 + ((number * 31 + i) % 50_000))
    const own = { prompt: promptOf(messages, splices), ids, scores: ids.map((_, i) => -(1 + i) / 8) }
    sampled.set(text, own)
    const replies = messages.filter(({ role }) => role === 'tool').length
    const name = tools.map((tool) => tool.function.name).find((each) => /guess/.test(each))
    const call = {
      id: `call_${number}`,
      type: 'function',
      // As no library writes them.
      function: { name, arguments: `{"value" :  ${2 ** (7 - replies)}}` },
    }
    const isCalling = name !== undefined && replies < turns
    const message = {
      role: 'assistant',
      content: text,
      reasoning_content: `Thought ${number}.`,
      ...(isCalling && { tool_calls: [call] }),
    }
    const choice = {
      index: 0,
      message,
      finish_reason: isCalling ? 'tool_calls' : 'stop',
      token_ids: ids,
      logprobs: { content: own.scores.map((logprob) => ({ token: 'x', logprob, bytes: null, top_logprobs: [] })) },
    }
    const usage = { prompt_tokens: own.prompt.length, completion_tokens: ids.length, total_tokens: own.prompt.length }
    const head = { id: `chat_${number}`, object: 'chat.completion', created: 0, model: 'engine' }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ ...head, prompt_token_ids: own.prompt, choices: [choice], usage }), () =>
      onAnswered?.(number),
    )
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    sampled,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function promptOf(messages: readonly Message[], splices: boolean): number[] {
  const spliced = splices ? messages.findLastIndex(({ generation_token_ids: ids }) => ids) : -1
  const { prompt_token_ids: before = [], generation_token_ids: after = [] } = messages[spliced] ?? {}
  const text = messages
    .slice(spliced + 1)
    .map(({ role, content }) => `${role}${JSON.stringify(content)}`)
    .join()
  return [...before, ...after, ...Array.from(text, (letter) => letter.codePointAt(0) as number), 0]
}
