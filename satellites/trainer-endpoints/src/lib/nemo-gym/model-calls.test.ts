import { request } from 'node:http'
import { createHost, defineEnvironment } from '@episodic/mcp-server'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { NemoGymClient, row } from '../fixtures/nemo-gym-client.fixture.ts'
import { numberGuessing } from '../fixtures/number-guessing.fixture.ts'
import { serveNemoGym } from './serve-nemo-gym.ts'

/** A world whose only tool has the name of a path of this server, which is none of its routes for agents. */
const healthy = defineEnvironment({
  name: 'healthy',
  version: '1.0.0',
  description: 'A world.',
  params: z.object({}),
  state: { public: z.object({}), private: z.object({}) },
  start: () => ({ public: {}, private: {} }),
  observe: () => 'Call the tool.',
  tools: ({ tool }) => ({
    health: tool({ description: 'A tool.', input: z.object({}), play: ({ say }) => say('Fine.') }),
  }),
  rewards: { one: () => 1 },
})

async function serve(store = createMemoryStore()) {
  const host = createHost({ environments: [numberGuessing, healthy], store })
  const server = await serveNemoGym(host)
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]()
    await host[Symbol.asyncDispose]()
  })
  return { host, server, client: () => new NemoGymClient(server.origin) }
}

/** Sends a path as it is: `fetch` would resolve its dots. Resolves with the cookie that was set. */
function postRaw(
  port: number,
  path: string,
  cookie: string,
  body: object,
): Promise<{ status: number; text: string; cookie: string }> {
  return new Promise((resolve, reject) => {
    const headers = { cookie, 'content-type': 'application/json' }
    const sent = request({ port, host: '127.0.0.1', path, method: 'POST', headers }, async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      const [set = ''] = response.headers['set-cookie'] ?? []
      resolve({ status: response.statusCode ?? 0, text, cookie: set.split(';')[0] as string })
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

const easy = row({ params: { low: 5, high: 5 }, seed: undefined })
const guess = (value: number) => ({ type: 'function_call', name: 'guess', arguments: JSON.stringify({ value }) })
const called = (name: string, body: object) => ({ type: 'function_call', name, arguments: JSON.stringify(body) })

/** What a model may send as the arguments of a tool with the name of a route. */
const CALLS: readonly (readonly [name: string, body: object])[] = [
  ['verify', {}],
  ['verify', { responses_create_params: {}, response: { output: [] } }],
  ['verify', { ...easy, response: { output: [guess(5)] } }],
  ['verify', { ...row({ seed: 8 }), response: { output: [] } }],
  ['verify', { ...row(), difficulty: 'hard', response: { output: [] } }],
  ['seed_session', easy],
  ['seed_session', row()],
  ['seed_session', { resources_session_id: 's', episode_id: { rollout_id: 'r' }, task_data: easy }],
  ['close_session', { resources_session_id: 's', episode_id: { rollout_id: 'r' } }],
  ['close_session', {}],
  ['reset', easy],
  ['step', { ...easy, response: { output: [guess(5)] } }],
  ['close', {}],
  ['aggregate_metrics', { verify_responses: [{ reward: 1 }] }],
  ['reverify_mode', {}],
  ['mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
  ['health', {}],
  ['', {}],
]

const SPELLINGS = (name: string) => [
  `/${name}`,
  `//${name}`,
  `/${name}/`,
  `/./${name}`,
  `/x/../${name}`,
  `/%${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
  `/${name.toUpperCase()}`,
  `/${name}?a=b`,
  `/ng-rollout/1/${name}`,
  `/ng-rollout/1//${name}`,
  `/${name};a`,
  `/${name}%2f`,
  `/${name}%00`,
]

describe('a model that calls a tool with the name of a route', () => {
  it.each(CALLS)('%s is one refused step of its own rollout: %j', async (name, body) => {
    const { client, host } = await serve()
    const agent = client()
    await agent.post('seed_session', row())
    const { sessions: before } = await host.list({ limit: 10 })
    const { text } = await agent.post(name, body)
    expect(text).not.toContain('solved')
    expect(agent.cookie).toMatch(/\.1$/)
    const { sessions } = await host.list({ limit: 10 })
    expect(sessions.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    await agent.post('guess', { value: 500 })
    const verify = { ...row(), response: { output: [called(name, body), guess(500)] } }
    expect((await agent.post('verify', verify)).body).toMatchObject({ reward: -0.02, steps: 2, mask_sample: false })
  })

  it.each(['verify', 'seed_session', 'close_session', 'reset', 'aggregate_metrics'])(
    'however it spells /%s',
    async (name) => {
      const { server, client, host } = await serve()
      const agent = client()
      await agent.post('seed_session', row())
      let { cookie } = agent
      for (const path of SPELLINGS(name)) {
        for (const body of [{}, easy, { ...easy, response: { output: [] } }, { verify_responses: [{ reward: 1 }] }]) {
          const answer = await postRaw(server.port, path, cookie, body)
          expect(answer.cookie, path).toMatch(/^episodic_session=ctl_/)
          cookie = answer.cookie
        }
      }
      expect((await host.list({ limit: 10 })).total).toBe(1)
      agent.cookie = cookie
      const steps = Number(/\.(\d+)$/.exec(cookie)?.[1])
      expect(steps).toBe(4 * SPELLINGS(name).length)
      const verify = { ...row(), response: { output: Array.from({ length: steps }, () => called(name, {})) } }
      expect((await agent.post('verify', verify)).body).toMatchObject({ steps, mask_sample: false })
    },
  )
})

describe('verify', () => {
  it.each([
    ['another seed', row({ seed: 8 })],
    ['other parameters', row({ params: { low: 1, high: 1 } })],
    ['another prompt', { ...row(), responses_create_params: { input: [] } }],
    ['another member', { ...row(), difficulty: 'hard' }],
    ['one member less', { responses_create_params: row().responses_create_params, episodic: row().episodic }],
  ])('of %s than the session was opened with is masked, and says nothing of it', async (_, other) => {
    const { client } = await serve()
    const agent = client()
    await agent.post('seed_session', row())
    await agent.post('guess', { value: 500 })
    const { body } = await agent.post('verify', { ...other, response: { output: [guess(500)] } })
    expect(body).toMatchObject({ reward: 0, steps: 0, mask_sample: true, failure_kind: 'episodic:invalid_params' })
  })

  it('takes members that a client filled in with null as left out', async () => {
    const { client } = await serve()
    const agent = client()
    await agent.post('seed_session', row())
    const filled = { ...row(), verifier: null, episodic: { ...(row().episodic as object), limits: null } }
    expect((await agent.post('verify', { ...filled, response: { output: [] } })).body).toMatchObject({
      mask_sample: false,
    })
  })
})
