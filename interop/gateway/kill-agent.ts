import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import OpenAI from 'openai'

// An agent in a process of its own. It plays one conversation, and notes each answer that it has received.

const [root = '', key = '', notes = ''] = process.argv.slice(2)

/** Sends a request again as the client does, but as soon as somebody listens: the client waits up to 8 seconds. */
const send: typeof fetch = async (request, init) => {
  for (let tries = 0; ; tries++)
    try {
      const headers = new Headers(init?.headers)
      headers.set('x-stainless-retry-count', String(tries))
      return await fetch(request, { ...init, headers })
    } catch (error) {
      if (tries > 400) throw error
      await pause(25)
    }
}

const client = new OpenAI({ baseURL: `${root}/v1`, apiKey: key, fetch: send })
const tools = [
  { type: 'function' as const, function: { name: 'guess', parameters: { type: 'object', properties: {} } } },
]
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Which number is it?' }]
for (;;) {
  const { choices } = await client.chat.completions.create({ model: 'm', messages, tools })
  const { content, tool_calls: calls = [] } = (choices[0] as (typeof choices)[number]).message
  appendFileSync(notes, `${content}\n`)
  if (calls.length === 0) break
  messages.push({ role: 'assistant', content, tool_calls: calls })
  for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'It is higher.' })
}
