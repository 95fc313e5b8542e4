import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { createRollouts } from '@episodic/env'
import { createRng, type JsonObject, WireError } from '@episodic/protocol'

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
const rollouts = createRollouts(root, token)
type Leased = NonNullable<Awaited<ReturnType<typeof rollouts.lease>>>

/** Asks the model until somebody answers. Resolves with `null` for what is refused. */
async function ask<T>(body: object, key: string): Promise<T | null> {
  for (let tries = 0; ; tries++) {
    const headers = { authorization: `Bearer ${key}`, 'x-stainless-retry-count': String(tries) }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(`${root}/v1/chat/completions`, init).catch(() => null)
    if (answer?.ok) return (await answer.json()) as T
    if (answer && answer.status < 500) return null
    await pause(20)
  }
}

async function play(rollout: Leased): Promise<void> {
  const { session_id: id, api_key, note } = rollout
  const before = note?.messages as unknown as readonly Message[] | undefined
  const messages: Message[] = [...(before ?? [{ role: 'user', content: `Which number is it, ${id}?` }])]
  for (;;) {
    const body = { model: 'm', messages, tools }
    const answer = await ask<{ choices: [{ message: Message }] }>(body, api_key)
    if (!answer) return
    const { content = '', tool_calls: calls = [] } = answer.choices[0].message
    appendFileSync(notes, `${JSON.stringify([id, content])}\n`)
    if (calls.length === 0) {
      await rollout.finish(messages.length)
      return
    }
    messages.push({ role: 'assistant', content, tool_calls: calls })
    for (const call of calls) messages.push({ role: 'tool', tool_call_id: call.id, content: 'It is higher.' })
    if (rng.float() < Number(parks)) {
      await rollout.park({ messages } as unknown as JsonObject)
      return
    }
  }
}

for (;;) {
  const leased = await rollouts.lease({ seconds: 600, key })
  try {
    if (leased) await play(leased)
    else await pause(20)
  } catch (error) {
    // Another worker has it.
    if (!WireError.is(error, 'fenced')) throw error
  }
}
