import { request } from 'node:http'
import { createHost, defineEnvironment } from '@episodic/mcp-server'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { answered, NemoGymClient, row } from '../fixtures/nemo-gym-client.fixture.ts'
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

  it('chooses no episode of its own: its guess in another world is none of the planned row', async () => {
    const { client, host } = await serve()
    const agent = client()
    const planned = row({ params: { low: 1, high: 1_000_000 } })
    await agent.post('seed_session', planned)
    const calls = [
      called('verify', { responses_create_params: {}, response: { output: [] } }),
      called('seed_session', { episodic: { environment: 'number-guessing', params: { low: 5, high: 5 } } }),
      guess(5),
    ]
    for (const { name, arguments: args } of calls) await agent.post(name, JSON.parse(args))
    const { body } = await agent.post('verify', { ...planned, response: { output: calls } })
    expect(body).toMatchObject({ reward: -0.03, steps: 3, terminated: 0, mask_sample: false })
    expect((await host.list({ limit: 10 })).total).toBe(0)
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

  it('keeps the cookie of a client that holds only the last one it was sent, whatever it is answered', async () => {
    const { client, server } = await serve()
    const agent = client()
    await agent.post('seed_session', row())
    const long = JSON.stringify({ a: 'x'.repeat(1_100_000) })
    for (const body of ['{', '[1]', long, '['.repeat(50_000)])
      for (const name of body === long
        ? ['guess', 'close_session']
        : ['verify', 'guess', 'seed_session', 'close_session']) {
        const response = await fetch(`${server.origin}/${name}`, {
          method: 'POST',
          headers: { cookie: agent.cookie },
          body,
        })
        expect([response.status, response.headers.getSetCookie().length], `${name} ${body.slice(0, 9)}`).toEqual([
          body === long ? 413 : 400,
          1,
        ])
      }
  })

  it('opens nothing after its session is gone', async () => {
    const { client } = await serve()
    const agent = client()
    await agent.post('seed_session', row())
    // A server without the session: its store is another.
    const { client: other, host: empty } = await serve()
    const lost = other()
    lost.cookie = agent.cookie
    for (const [name, body] of CALLS) if (name !== 'close_session') await lost.post(name, body)
    expect((await empty.list({ limit: 10 })).total).toBe(0)
  })

  it('plays a tool of its world whose name is a path of this server', async () => {
    const { client } = await serve()
    const agent = client()
    const own = row({ environment: 'healthy', params: {} })
    await agent.post('seed_session', own)
    expect(await agent.post('health', {})).toMatchObject({ status: 200, text: expect.stringContaining('Fine.') })
    const verify = { ...own, response: { output: [called('health', {})] } }
    expect((await agent.post('verify', verify)).body).toMatchObject({ steps: 1, reward: 1, mask_sample: false })
  })
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

  it('judges once: with other calls it is masked', async () => {
    const { client } = await serve()
    const agent = client()
    await agent.post('seed_session', row())
    await agent.post('guess', { value: 500 })
    expect((await agent.post('verify', answered([500]))).body).toMatchObject({ steps: 1, mask_sample: false })
    expect((await agent.post('verify', answered([500, 501]))).body).toMatchObject({ steps: 0, mask_sample: true })
  })

  it('knows the row again after the server was started again on the same store', async () => {
    const store = createMemoryStore()
    const first = (await serve(store)).client()
    await first.post('seed_session', row())
    await first.post('guess', { value: 500 })
    const successor = (await serve(store)).client()
    successor.cookie = first.cookie
    const other = { ...row({ seed: 8 }), response: answered([500]).response }
    expect((await successor.post('verify', other)).body).toMatchObject({ reward: 0, mask_sample: true })
  })

  it('lets a client open the next session with the cookie of the one that was judged', async () => {
    const { client } = await serve()
    const agent = client()
    for (let i = 0; i < 2; i++) {
      expect((await agent.post('seed_session', row())).text).toBe('{}')
      await agent.post('guess', { value: 500 })
      expect((await agent.post('verify', answered([500]))).body).toMatchObject({ steps: 1, mask_sample: false })
    }
  })
})
