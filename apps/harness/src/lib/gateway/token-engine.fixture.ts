import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** An answer as an engine sampled it. */
export interface Sampled {
  readonly prompt: readonly number[]
  readonly ids: readonly number[]
  readonly scores: readonly number[]
}

interface Message {
  readonly role: string
  readonly prompt_token_ids?: readonly number[]
  readonly generation_token_ids?: readonly number[]
  readonly [field: string]: unknown
}

export interface EngineRequest {
  readonly messages: readonly Message[]
  readonly [field: string]: unknown
}

/** A server of chat completions that says which tokens it read and sampled. */
export interface TokenEngine extends AsyncDisposable {
  /** Root of its API. */
  readonly url: string
  readonly requests: readonly EngineRequest[]
  /** What it sampled, in the order of its answers. */
  readonly sampled: readonly Sampled[]
}

/**
 * Starts an engine. It samples tokens that no tokenizer would choose for their text, and begins a prompt with the
 * tokens that a message has; of the rest of a conversation, each letter is a token.
 *
 * @param answer - the message of an answer, or an error with its status.
 * @param splices - whether it uses the tokens of a message.
 */
export async function startTokenEngine(
  answer: (request: EngineRequest, number: number) => object | Promise<object>,
  splices = true,
): Promise<TokenEngine> {
  const requests: EngineRequest[] = []
  const sampled: Sampled[] = []
  const server = createServer(async (incoming, response) => {
    const request = (await json(incoming)) as EngineRequest
    const message = await answer(request, requests.push(request) - 1)
    response.setHeader('content-type', 'application/json')
    if ('status' in message) return response.writeHead(Number(message.status)).end(JSON.stringify(message))
    const ids = Array.from({ length: 1 + (requests.length % 5) }, (_, i) => 100_000 + 10 * requests.length + i)
    const own = { prompt: promptOf(request, splices), ids, scores: ids.map((_, i) => -(1 + i) / 8) }
    sampled.push(own)
    const choice = {
      index: 0,
      message: { role: 'assistant', content: null, ...message },
      finish_reason: 'tool_calls' in message ? 'tool_calls' : 'stop',
      token_ids: own.ids,
      logprobs: { content: own.scores.map((logprob) => ({ token: 'x', logprob })) },
    }
    response.end(
      JSON.stringify({
        id: `chat_${requests.length}`,
        object: 'chat.completion',
        model: 'served',
        prompt_token_ids: own.prompt,
        choices: [choice],
        usage: { prompt_tokens: own.prompt.length, completion_tokens: ids.length },
      }),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    sampled,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function promptOf({ messages }: EngineRequest, splices: boolean): number[] {
  const spliced = splices ? messages.findLastIndex(({ generation_token_ids: ids }) => ids) : -1
  const { prompt_token_ids: before = [], generation_token_ids: after = [] } = messages[spliced] ?? {}
  const text = messages
    .slice(spliced + 1)
    .map(({ role, content }) => `${role}${JSON.stringify(content)}`)
    .join()
  return [...before, ...after, ...Array.from(text, (letter) => letter.codePointAt(0) as number), 0]
}

/** The message of an answer that thinks, and calls a tool with its arguments written in a way of its own. */
export function thinkingGuess(value: number, id = 'call_1'): object {
  const call = { id, type: 'function', function: { name: 'guess', arguments: `{"value" :  ${value}}` } }
  return { reasoning_content: 'Half of it.', content: 'I guess.', tool_calls: [call] }
}
