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
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
  readonly [field: string]: unknown
}

/**
 * Returns the message of an answer, or an error with its `status`. `number` counts the requests from 0. With
 * `isEnded`, the engine has ended the answer by itself, as one does whose weights are to change.
 */
export type Answering = (request: EngineRequest, number: number) => object | Promise<object>

/** A server of chat completions that says which tokens it read and sampled, on a port of its own. */
export interface TokenEngine extends AsyncDisposable {
  /** Root of its API. */
  readonly url: string
  readonly requests: readonly EngineRequest[]
  /** What it sampled, in the order of its answers. */
  readonly sampled: readonly Sampled[]
  /** What it sampled for the last answer with a text. */
  findSampled(text: string | null | undefined): Sampled | undefined
}

export interface EngineOptions {
  /** Tokens of an answer. Default: between 1 and 5. */
  readonly tokens?: number
  /** Whether it begins a prompt with the tokens that a message has, as the servers of NeMo RL do. Default: `true`. */
  readonly splices?: boolean
  /** Called at each request, and when an answer was sent. */
  readonly onRequest?: () => void
  readonly onAnswered?: () => void
}

/**
 * Starts an engine. It samples tokens that no tokenizer would choose for their text; of what it is sent as text each
 * letter is a token.
 */
export async function startTokenEngine(
  answer: Answering,
  { tokens, splices = true, onRequest, onAnswered }: EngineOptions = {},
): Promise<TokenEngine> {
  const requests: EngineRequest[] = []
  const sampled: Sampled[] = []
  const byText = new Map<unknown, Sampled>()
  const server = createServer(async (incoming, response) => {
    // A gateway may ask whether it is well.
    if (incoming.method !== 'POST') return response.end('{}')
    const request = (await json(incoming)) as EngineRequest
    const number = requests.push(request) - 1
    onRequest?.()
    const { isEnded, ...message } = (await answer(request, number)) as { readonly isEnded?: boolean }
    response.setHeader('content-type', 'application/json')
    if ('status' in message) return response.writeHead(Number(message.status)).end(JSON.stringify(message))
    const ids = Array.from({ length: tokens ?? 1 + ((number + 1) % 5) }, (_, i) => 100_000 + 10 * (number + 1) + i)
    const own = { prompt: promptOf(request, splices), ids, scores: ids.map((_, i) => -(1 + i) / 8) }
    sampled.push(own)
    if ('content' in message) byText.set(message.content, own)
    const choice = {
      index: 0,
      message: { role: 'assistant', content: null, ...message },
      finish_reason: isEnded ? 'abort' : 'tool_calls' in message ? 'tool_calls' : 'stop',
      token_ids: ids,
      logprobs: { content: own.scores.map((logprob) => ({ token: 'x', logprob, bytes: null, top_logprobs: [] })) },
    }
    const [read, written] = [own.prompt.length, ids.length]
    const usage = { prompt_tokens: read, completion_tokens: written, total_tokens: read + written }
    const head = { id: `chat_${number}`, object: 'chat.completion', created: 0, model: 'served' }
    const body = { ...head, prompt_token_ids: own.prompt, choices: [choice], usage }
    response.end(JSON.stringify(body), () => onAnswered?.())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    sampled,
    findSampled: (text) => byText.get(text),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function promptOf({ messages, continue_final_message: isHalf }: EngineRequest, splices: boolean): number[] {
  const spliced = splices ? messages.findLastIndex(({ generation_token_ids: ids }) => ids) : -1
  const { prompt_token_ids: before = [], generation_token_ids: after = [] } = messages[spliced] ?? {}
  const text = messages
    .slice(spliced + 1)
    .map(({ role, content }) => JSON.stringify([role, content]))
    .join()
  return [...before, ...after, ...Array.from(text, (letter) => letter.codePointAt(0) as number), ...(isHalf ? [] : [0])]
}

/** A model that calls the tool to guess with until it has had so many answers, and then says so. */
export function guessing(turns = 3): Answering {
  return ({ messages, tools = [] }, number) => {
    const replies = messages.filter(({ role }) => role === 'tool').length
    const name = tools.map((tool) => tool.function.name).find((each) => /guess/.test(each))
    const said = { content: `Answer ${number + 1}.`, reasoning_content: `Thought ${number + 1}.` }
    if (name === undefined || replies >= turns) return said
    return { ...said, tool_calls: [oddlyWritten(name, 2 ** (7 - replies), `call_${number + 1}`)] }
  }
}

/** The message of an answer that thinks, and calls a tool. */
export function thinkingGuess(value: number, id = 'call_1'): object {
  return { reasoning_content: 'Half of it.', content: 'I guess.', tool_calls: [oddlyWritten('guess', value, id)] }
}

/** A call whose arguments no library would write so. */
function oddlyWritten(name: string, value: number, id: string): object {
  return { id, type: 'function', function: { name, arguments: `{"value" :  ${value}}` } }
}
