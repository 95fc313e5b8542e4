import { createHost, defineEnvironment } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { NemoGymClient } from '../fixtures/nemo-gym-client.fixture.ts'
import { serveNemoGym } from './serve-nemo-gym.ts'

/** Words are a move here: the second ones end the conversation. */
const asking = defineEnvironment({
  name: 'asking',
  version: '1.0.0',
  description: 'Ask, look up, and answer.',
  state: { public: z.object({ said: z.int() }), private: z.object({}) },
  start: () => ({ public: { said: 0 }, private: {} }),
  observe: () => '',
  speech: 'say',
  tools: ({ tool }) => ({
    say: tool({
      description: 'Says it.',
      input: z.object({ text: z.string().min(1).max(100) }),
      play({ state, input, end, say }) {
        state.public.said += 1
        if (state.public.said === 2) end('answered')
        return say(`You said ${input.text}`)
      },
    }),
    look_up: tool({ description: 'Looks up.', input: z.object({}), play: ({ say }) => say('It is 42.') }),
  }),
  rewards: { said: ({ tool }) => (tool === 'say' ? 1 : 0) },
  success: ({ end }) => end.reason === 'answered',
})

async function serve(): Promise<NemoGymClient> {
  const host = createHost({ environments: [asking] })
  const server = await serveNemoGym(host)
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]()
    await host[Symbol.asyncDispose]()
  })
  return new NemoGymClient(server.origin)
}

const ROW: JsonObject = {
  responses_create_params: { input: [{ role: 'user', content: 'Ask.' }] },
  episodic: { environment: 'asking', seed: 7 },
}
const words = (text: string): JsonObject => ({ type: 'message', content: [{ type: 'output_text', text }] })
const call: JsonObject = { type: 'function_call', call_id: 'c', name: 'look_up', arguments: '{}' }
const output: JsonObject = { type: 'function_call_output', call_id: 'c', output: 'It is 42.' }
const response = (...items: readonly JsonObject[]) => ({ ...ROW, response: { output: [...items] } })

it('plays an answer without a call as words, which another message of the user answers', async () => {
  const client = await serve()
  await client.post('reset', ROW)
  const first = await client.post('step', response(words('which?')))
  expect(first.body).toMatchObject({ observation: 'You said which?', reward: 1, info: { tool_outputs: [] } })
  const second = await client.post('step', response(words('I look.'), call))
  expect(second.body).toMatchObject({ observation: null, info: { tool_outputs: [{ call_id: 'c' }] } })
  const third = await client.post('step', response(words('42')))
  expect(third.body).toMatchObject({ terminated: true, reward: 1, info: { success: true } })
})

it('plays the last words of a rollout before it is judged, once', async () => {
  const client = await serve()
  await client.post('seed_session', ROW)
  await client.post('say', { text: 'which?' })
  await client.post('look_up', {})
  const said: JsonObject = { type: 'function_call', call_id: 's', name: 'say', arguments: '{"text":"which?"}' }
  const verify = response(said, { ...output, call_id: 's' }, call, output, words('42'))
  const verdicts = [await client.post('verify', verify, { keeps: false }), await client.post('verify', verify)]
  for (const { body } of verdicts)
    expect(body).toMatchObject({ reward: 2, steps: 3, terminated: 1, success: 1, mask_sample: false })
})
