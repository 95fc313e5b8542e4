import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A server of chat completions, on a port of its own. */
export interface ScriptedModel extends AsyncDisposable {
  /** Root of the API. */
  readonly url: string
}

interface Request {
  readonly model: string
  readonly messages: readonly { readonly content: string | null }[]
}

/**
 * Starts a server whose model guesses the middle of the last range that it was sent. It rejects conversations about
 * ranges that begin with an even number, so that some episodes fail.
 */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const server = createServer(async (incoming, response) => {
    const { model, messages } = (await json(incoming)) as Request
    const texts = messages.map(({ content }) => content ?? '').join('\n')
    const ranges = [...texts.matchAll(/whole number from (-?\d+) to (-?\d+)/g)]
    const [first, last] = [ranges[0], ranges.at(-1)]
    if (!first || !last || Number(first[1]) % 2 === 0) {
      response.writeHead(400).end(JSON.stringify({ error: { message: 'This range is rejected.' } }))
      return
    }
    const value = middleOf(texts, Number(last[1]), Number(last[2]))
    const call = {
      id: `call_${messages.length}`,
      type: 'function',
      function: { name: 'guess', arguments: JSON.stringify({ value }) },
    }
    const message = { role: 'assistant', content: 'The middle.', reasoning: 'It halves the range.', tool_calls: [call] }
    const usage = { prompt_tokens: texts.length, completion_tokens: 9, total_tokens: texts.length + 9 }
    const body = { id: 'chat', object: 'chat.completion', created: 0, model, usage }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ ...body, choices: [{ index: 0, finish_reason: 'tool_calls', message }] }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The middle of what the answers so far leave of a range. */
function middleOf(texts: string, low: number, high: number): number {
  const lower = [...texts.matchAll(/higher than (-?\d+)/g)].map(([, value]) => Number(value) + 1)
  const upper = [...texts.matchAll(/lower than (-?\d+)/g)].map(([, value]) => Number(value) - 1)
  return Math.floor((Math.max(low, ...lower) + Math.min(high, ...upper)) / 2)
}
