import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A server of chat completions whose answers follow from what it is asked, and which quotes what it refuses. */
export interface QuotingEngine extends AsyncDisposable {
  /** Root of its API. */
  readonly url: string
  /** The bodies that it was sent, by the first text of their user. */
  readonly asked: ReadonlyMap<string, readonly string[]>
}

interface Asked {
  readonly messages?: readonly { readonly role?: string; readonly content?: unknown }[]
  readonly user?: unknown
  readonly seed?: unknown
  readonly stop?: unknown
}

/** Starts an engine that wants `key`, and has it in each of its errors. */
export async function startQuotingEngine(key: string): Promise<QuotingEngine> {
  const asked = new Map<string, string[]>()
  const server = createServer(async (incoming, response) => {
    const body = await text(incoming).catch(() => '')
    const refuse = (status: number, why: string) => {
      const message = `${why} (${incoming.headers.authorization}, ${Buffer.from(key).toString('base64')})`
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': key })
      response.end(JSON.stringify({ error: { message } }))
    }
    if (incoming.headers.authorization !== `Bearer ${key}`) return refuse(401, 'Incorrect API key provided')
    if (incoming.method === 'GET') return response.end(JSON.stringify({ data: [{ id: 'm' }, { id: key }] }))
    const { messages = [], user, seed, stop }: Asked = JSON.parse(body)
    const first = messages.find(({ role }) => role === 'user')?.content
    if (typeof first === 'string') asked.set(first, [...(asked.get(first) ?? []), body])
    for (const [name, value] of Object.entries({ user, seed, stop }))
      if (value !== undefined && !/^\w*$/.test(String(value)))
        return refuse(400, `${name}: Input is not supported [input_value='${value}']`)
    const digest = createHash('sha256')
      .update(JSON.stringify(messages.map(({ content }) => content)))
      .digest()
    const ids = [...digest.subarray(0, 8)].map((byte) => 1_000 + byte)
    const prompt = [...Buffer.from(JSON.stringify(messages.map(({ role, content }) => [role, content])))].slice(
      0,
      2_000,
    )
    const content = `Answer ${digest.toString('hex', 0, 6)}.`
    const logprobs = { content: ids.map((id) => ({ token: 'x', logprob: -(id % 8) / 8 })) }
    const message = { role: 'assistant', content }
    const choice = { index: 0, message, finish_reason: 'stop', token_ids: ids, logprobs }
    const usage = {
      prompt_tokens: prompt.length,
      completion_tokens: ids.length,
      total_tokens: prompt.length + ids.length,
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'x', model: 'm', prompt_token_ids: prompt, choices: [choice], usage }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
