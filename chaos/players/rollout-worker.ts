import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { createRng } from '@episodic/protocol'

// A worker in a process of its own: it leases rollouts of a gateway, plays them with an agent that speaks nothing but
// chat completions, and parks some of them. It notes each answer that its agent has received.

// It ends with the program that started it.
process.stdin.resume().on('end', () => process.exit(1))
const [root = '', token = '', key = '', notes = '', parks = '0'] = process.argv.slice(2)
const rng = createRng(`${key} ${process.pid}`)
const tools = [{ type: 'function', function: { name: 'guess', parameters: { type: 'object', properties: {} } } }]

interface Message {
  readonly role: string
  readonly content?: string | null
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}
interface Leased {
  readonly session_id: string
  readonly api_key: string
  readonly lease: number
  readonly note: { readonly messages: readonly Message[] } | null
}

/** Sends a request until somebody answers it. Resolves with `null` for one that is refused. */
async function send<T>(path: string, body: object, authorization = token): Promise<T | null> {
  for (let tries = 0; ; tries++) {
    const headers = { authorization: `Bearer ${authorization}`, 'x-stainless-retry-count': String(tries) }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(`${root}${path}`, init).catch(() => null)
    if (answer?.ok) return (await answer.json()) as T
    if (answer && answer.status < 500) return null
    await pause(20)
  }
}

async function play({ session_id: id, api_key, lease, note }: Leased): Promise<void> {
  const messages = [...(note?.messages ?? [{ role: 'user', content: `Which number is it, ${id}?` }])]
  for (;;) {
    const body = { model: 'm', messages, tools }
    const answer = await send<{ choices: [{ message: Message }] }>('/v1/chat/completions', body, api_key)
    if (!answer) return
    const { content = '', tool_calls: calls = [] } = answer.choices[0].message
    appendFileSync(notes, `${JSON.stringify([id, content])}\n`)
    if (calls.length === 0) {
      await send(`/sessions/${id}/finish`, { lease, reward: messages.length })
      return
    }
    messages.push({ role: 'assistant', content, tool_calls: calls })
    for (const call of calls) messages.push({ role: 'tool', tool_call_id: call.id, content: 'It is higher.' })
    if (rng.float() < Number(parks)) {
      await send(`/sessions/${id}/park`, { lease, note: { messages } })
      return
    }
  }
}

for (;;) {
  const leased = await send<{ rollout: Leased | null }>('/lease', { seconds: 600, key })
  if (leased?.rollout) await play(leased.rollout)
  else await pause(20)
}
