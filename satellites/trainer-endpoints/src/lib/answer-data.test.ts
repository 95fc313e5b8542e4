import { createHost, defineEnvironment } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { NemoGymClient } from './fixtures/nemo-gym-client.fixture.ts'
import { rpc, serveOpenEnv } from './fixtures/serve-openenv.fixture.ts'
import { serveNemoGym } from './nemo-gym/serve-nemo-gym.ts'
import { orsClient } from './ors/ors-client.fixture.ts'
import { serveOrs } from './ors/serve-ors.ts'

const KEY = 'the-control-token-of-the-operator'
const LINE = '{"price":120}'

const shop = defineEnvironment({
  name: 'shop',
  version: '1.0.0',
  description: 'Ask for a price.',
  state: { public: z.object({}), private: z.object({}) },
  start: () => ({ public: {}, private: {} }),
  observe: () => 'The shop is open.',
  tools: ({ tool }) => ({
    ask: tool({
      description: 'Ask.',
      input: z.object({}),
      output: z.object({ price: z.int() }),
      play: ({ say }) => say('The price.', { price: 120 }),
    }),
  }),
  rewards: { one: () => 0 },
})

describe('data that the text of an answer does not say', () => {
  it('is in the text that OpenEnv shows a model', async () => {
    const { origin } = await serveOpenEnv({}, {}, { environments: [shop] })
    const url = `${origin}/openenv/shop`
    const { result: created } = await rpc(url, 'openenv/session/create')
    const { result } = await rpc(url, 'tools/call', { name: 'ask', arguments: {}, session_id: created.session_id })
    const text = `The price.\n${LINE}\nThe shop is open.`
    expect(result.result).toMatchObject({ content: [{ type: 'text', text }], structured_content: { price: 120 } })
  })

  it('is in the text that ORS shows a model', async () => {
    await using host = createHost({ environments: [shop] })
    await using server = await serveOrs(host, { auth: { controlToken: KEY } })
    const client = orsClient(server.origin, KEY)
    const session = await client.open({ env_name: 'shop', task_spec: {} })
    const { answer } = await client.call(session, 'ask', {})
    expect(answer?.output.blocks[0].text).toBe(`The price.\n${LINE}\nThe shop is open.`)
  })

  it('is in the JSON that NeMo Gym shows a model, once', async () => {
    await using host = createHost({ environments: [shop] })
    await using server = await serveNemoGym(host)
    const client = new NemoGymClient(server.origin)
    await client.post('seed_session', { episodic: { environment: 'shop' }, responses_create_params: {} })
    expect((await client.post('ask', {})).body).toEqual({ price: 120, observation: 'The price.\nThe shop is open.' })
  })
})
