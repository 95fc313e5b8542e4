import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

interface Message {
  readonly role: string
  readonly content: string | null
  readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[]
}

/**
 * Serves models behind the API of chat completions, where the pages have their reader run one. They play
 * number-guessing by halving, from nothing but the messages that they are sent; `small` halves badly.
 */
export async function serveModel(port: number): Promise<AsyncDisposable> {
  const server = createServer(async (request, response) => {
    const { messages, model } = JSON.parse(await text(request))
    const call = {
      name: 'guess',
      arguments: JSON.stringify({ value: chooseGuess(messages, model === 'small' ? 8 : 2) }),
    }
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: call }],
    }
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        id: 'chat_1',
        object: 'chat.completion',
        created: 0,
        model,
        choices: [{ index: 0, finish_reason: 'tool_calls', message }],
        usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
      }),
    )
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Returns a part of the range in the first messages, as the answers so far have narrowed it: with 2, its middle. */
function chooseGuess(messages: readonly Message[], part: number): number {
  const text = messages.map(({ content }) => content ?? '').join('\n')
  const range = /from (-?\d+) to (-?\d+)/.exec(text) ?? []
  let [low, high] = [Number(range[1]), Number(range[2])]
  for (const [index, { tool_calls }] of messages.entries()) {
    const { value } = JSON.parse(tool_calls?.[0]?.function.arguments ?? '{}')
    const answer = messages[index + 1]?.content
    if (value === undefined || answer === undefined) continue
    if (answer?.includes('higher')) low = value + 1
    else high = value - 1
  }
  return low + Math.floor((high - low) / part)
}
