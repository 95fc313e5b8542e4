import { createHost, defineEnvironment } from '@episodic/mcp-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { connect, rpc, serveOpenEnv } from '../fixtures/serve-openenv.fixture.ts'
import { orsClient } from '../ors/ors-client.fixture.ts'
import { serveOrs } from '../ors/serve-ors.ts'

const KEY = 'the-control-token-of-the-operator'

/** `take` appears with the first `look`. Under a name that the fixtures have. */
const shelf = defineEnvironment({
  name: 'number-guessing',
  version: '1.0.0',
  description: 'A shelf.',
  state: { public: z.object({ seen: z.boolean() }), private: z.object({}) },
  start: () => ({ public: { seen: false }, private: {} }),
  observe: () => '',
  offers: ({ public: { seen } }) => (seen ? ['take'] : ['look']),
  tools: ({ tool }) => ({
    look: tool({
      description: 'Look.',
      input: z.object({}),
      play({ state, say }) {
        state.public.seen = true
        return say('A book.')
      },
    }),
    take: tool({ description: 'Take it.', input: z.object({}), play: ({ say }) => say('Taken.') }),
  }),
  rewards: {},
})

const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name)

describe('tools that change within an episode', () => {
  it('are listed to OpenEnv as they are in the session that asks, and all without one', async () => {
    const { url } = await serveOpenEnv({}, {}, { environments: [shelf] })
    const client = await connect(url)
    const list = async () =>
      namesOf((await client.request({ type: 'step', data: { type: 'list_tools' } })).data.observation)
    expect(await list()).toEqual(['look', 'take'])
    await client.reset()
    expect(await list()).toEqual(['look'])
    await client.request({ type: 'step', data: { type: 'call_tool', tool_name: 'look' } })
    expect(await list()).toEqual(['take'])
    const { result } = await rpc(url, 'openenv/session/create')
    await rpc(url, 'tools/call', { name: 'look', session_id: result.session_id })
    expect(namesOf((await rpc(url, 'tools/list', { session_id: result.session_id })).result)).toEqual(['take'])
    expect(namesOf((await rpc(url, 'tools/list')).result)).toEqual(['look', 'take'])
  })

  it('are listed to ORS as the tools of its task', async () => {
    const host = createHost({ environments: [shelf] })
    onTestFinished(() => host[Symbol.asyncDispose]())
    const server = await serveOrs(host, { auth: { controlToken: KEY } })
    onTestFinished(() => server[Symbol.asyncDispose]())
    const client = orsClient(server.origin, KEY)
    const session = await client.open({ task_spec: {} })
    const listed = async () =>
      namesOf((await client.ask('GET', '/number-guessing/task_tools', undefined, session)).body)
    expect(await listed()).toEqual(['look'])
    await client.call(session, 'look', {})
    expect(await listed()).toEqual(['take'])
    expect(namesOf((await client.ask('GET', '/number-guessing/tools')).body)).toEqual(['look', 'take'])
  })
})
