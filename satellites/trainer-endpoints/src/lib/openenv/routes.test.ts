import { createHost, defineEnvironment, type ServerError } from '@episodic/mcp-server'
import type { Task } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ADA, ask, connect, guess, rpc, serveOpenEnv, TOKEN } from '../fixtures/serve-openenv.fixture.ts'
import { openEnvRoutes } from './routes.ts'

const task = (split: Task['split'], seed: string): Task => ({
  id: `task ${seed}`,
  environment: { name: 'number-guessing', version: '1.0.0' },
  tools: ['guess'],
  prompt: 'Find it.',
  hints: [],
  params: { low: 1, high: 100, maxGuesses: 8 },
  seed,
  difficulty: 0.5,
  limits: {},
  split,
  tags: [],
  metadata: {},
})
const TASKS = [task('train', 'a'), task('test', 'b'), task('train', 'c')]

describe('the HTTP routes of OpenEnv', () => {
  it('describe an environment to everyone', async () => {
    const { url } = await serveOpenEnv()
    const get = async (path: string) => (await ask(`${url}${path}`, { token: null })).json
    expect(await get('/health')).toEqual({ status: 'healthy' })
    expect(await get('/metadata')).toMatchObject({
      name: 'number-guessing',
      description: 'Find the hidden number in few guesses.',
      version: '1.0.0',
    })
    const schema = await get('/schema')
    expect(schema.action).toMatchObject({
      title: 'CallToolAction',
      properties: { tool_name: { enum: ['guess'] }, arguments: { anyOf: [{ title: 'guess', type: 'object' }] } },
    })
    expect(Object.keys(schema)).toEqual(['action', 'observation', 'state', 'reset_observation'])
    const { info, paths } = await get('/openapi.json')
    expect(info.version).toBe('1.0.0')
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/reset', '/step', '/state', '/mcp']))
    expect(await get('/list_environments')).toEqual(['number-guessing'])
  })

  it('play one call in an episode of its own', async () => {
    const { url, host } = await serveOpenEnv()
    expect((await ask(`${url}/reset`, { body: { seed: 7, high: 9 } })).json).toMatchObject({
      observation: { text: 'Guess a whole number from 1 to 9. 8 guesses left.' },
      reward: null,
      done: false,
    })
    expect((await ask(`${url}/reset`, { method: 'POST' })).status).toBe(200)
    expect((await ask(`${url}/step`, { body: { action: guess(500), timeout_s: 3 } })).json).toMatchObject({
      reward: -0.01,
      metadata: { seq: 1 },
    })
    expect((await ask(`${url}/state`)).json).toEqual({ episode_id: null, step_count: 0 })
    expect((await host.list({ limit: 1 })).total).toBe(0)
  })

  it.each([
    ['/reset', '{', 400, 'parse-error'],
    ['/reset', '[]', 400, 'invalid-request'],
    ['/reset', '{"low":"one"}', 422, 'invalid-params'],
    ['/step', '{}', 422, 'invalid-params'],
    ['/step', '{"action":{"value":5}}', 422, 'invalid-params'],
    ['/jump', '{}', 404, 'not-found'],
  ])('answer a POST of %s with %s by %i', async (path, body, status, code) => {
    const { url } = await serveOpenEnv()
    expect(await ask(`${url}${path}`, { body })).toMatchObject({
      status,
      json: { detail: expect.any(String), code },
    })
  })

  it('reject a body over the limit, and an unknown environment', async () => {
    const { url, origin } = await serveOpenEnv({ bodyBytes: 100 })
    const body = { seed: 'x'.repeat(100) }
    expect(await ask(`${url}/reset`, { body })).toMatchObject({ status: 413, json: { code: 'too-large' } })
    for (const path of ['/health', '/schema', '/metadata'])
      expect((await ask(`${origin}/openenv/nowhere${path}`)).status).toBe(404)
    expect((await ask(`${origin}/openenv/nowhere/reset`, { body: {} })).status).toBe(404)
    expect((await ask(`${origin}/openenv/`)).status).toBe(404)
  })

  it('need a token of the trainer endpoint wherever a reward or a seed crosses', async () => {
    const { url } = await serveOpenEnv({ tasks: TASKS })
    for (const token of [null, 'wrong']) {
      for (const path of ['/reset', '/step', '/number-guessing/tasks', '/number-guessing/task'])
        expect(await ask(`${url}${path}`, { token, body: { split: 'train', index: 0 } })).toMatchObject({
          status: 401,
          json: { code: 'unauthenticated' },
        })
      for (const path of ['/state', '/number-guessing/splits'])
        expect((await ask(`${url}${path}`, { token })).status).toBe(401)
    }
  })

  it('take a token in the path', async () => {
    const { origin } = await serveOpenEnv()
    const url = `${origin}/openenv/token/${TOKEN}/number-guessing`
    expect((await ask(`${url}/reset`, { token: null, body: {} })).status).toBe(200)
    expect((await ask(`${url}/health`, { token: null })).status).toBe(200)
    expect((await rpc(url, 'openenv/session/create', {}, null)).result.session_id).toHaveLength(32)
  })

  it('list the tasks of an environment', async () => {
    const { url, market } = await serveOpenEnv({ tasks: TASKS })
    const post = async (path: string, body: object) => ask(`${url}/number-guessing/${path}`, { body })
    expect((await ask(`${url}/number-guessing/splits`)).json).toEqual([
      { name: 'train', type: 'train' },
      { name: 'test', type: 'test' },
    ])
    expect((await post('num_tasks', { split: 'train' })).json).toEqual({ num_tasks: 2 })
    const { json } = await post('task', { split: 'train', index: 1 })
    expect(json).toMatchObject({ task: { seed: 'c', params: { high: 100 } }, env_name: 'number-guessing' })
    expect((await post('tasks', { split: 'test' })).json.tasks).toHaveLength(1)
    const range = await post('task_range', { split: 'train', start: 1, stop: 9 })
    expect(range.json.tasks.map(({ seed }: { seed: string }) => seed)).toEqual(['c'])
    const client = await connect(url)
    expect((await client.reset(json.task)).data.metadata.seed).toBe('c')
    for (const body of [{ split: 'train', index: 2 }, { split: 'train', index: '0' }, { split: 'mine', index: 0 }, {}])
      expect(await post('task', body)).toMatchObject({ status: 400, json: { code: 'invalid-params' } })
    expect((await post('task_range', { split: 'train', start: 'x' })).status).toBe(400)
    expect((await ask(`${url}/market/splits`)).status).toBe(404)
    expect((await ask(`${market}/market/splits`)).status).toBe(501)
  })

  it('leave the other paths of the server to its fast path', async () => {
    const { host } = await serveOpenEnv()
    const routes = openEnvRoutes(host)
    expect(['/mcp', '/env', '/openenv', '/openenv/x/ws'].map((path) => routes.owns(path))).toEqual([
      false,
      false,
      false,
      true,
    ])
    routes.end()
  })

  it('are not created for a tool whose name OpenEnv keeps for itself', () => {
    const environment = defineEnvironment({
      name: 'clock',
      version: '1.0.0',
      description: 'A clock.',
      state: { public: z.object({}), private: z.object({}) },
      start: () => ({ public: {}, private: {} }),
      observe: () => 'Tick.',
      tools: ({ tool }) => ({
        reset: tool({ description: 'Set back.', input: z.object({}), play: ({ say }) => say('Tock.') }),
      }),
      rewards: {},
    })
    expect(() => openEnvRoutes(createHost({ environments: [environment] }))).toThrow(
      expect.objectContaining({ code: 'option-invalid' } satisfies Partial<ServerError>),
    )
  })
})

describe('POST /mcp of OpenEnv', () => {
  it('is refused with status 200 and a JSON-RPC error', async () => {
    const { url } = await serveOpenEnv()
    expect(await ask(`${url}/mcp`, { token: null, body: {} })).toMatchObject({
      status: 200,
      json: { jsonrpc: '2.0', id: null, error: { code: 1401 } },
    })
    expect((await ask(`${url}/mcp`, { body: {} })).json).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
    expect((await ask(`${url}/mcp`, { body: '{' })).json).toMatchObject({ error: { code: -32700 } })
    expect(await rpc(url, 'tools/dance')).toMatchObject({ id: 1, error: { code: -32601 } })
    expect(await rpc(url, 'tools/call', { name: 7 })).toMatchObject({ error: { code: -32602 } })
  })

  it('shares a session with one WebSocket at a time', async () => {
    const { url } = await serveOpenEnv()
    const { session_id: id } = (await rpc(url, 'openenv/session/create')).result
    const path = `/ws?session_id=${id}`
    const client = await connect(url, { path })
    await client.reset({ seed: 7 })
    const call = (value: number) => rpc(url, 'tools/call', { name: 'guess', arguments: { value }, session_id: id })
    const { result } = await call(50)
    expect(result).toMatchObject({ done: false, reward: -0.01, tool_name: 'guess', error: null, metadata: { seq: 1 } })
    expect(result.result.data).toEqual({ value: 50, hint: expect.any(String) })
    expect((await client.state()).data).toMatchObject({ step_count: 1 })
    const second = await connect(url, { path })
    expect(await second.next()).toMatchObject({ type: 'error', data: { code: 'SESSION_ERROR' } })
    await second.closed
    client.webSocket.terminate()
    // The session outlives its WebSocket, and takes another one.
    await expect
      .poll(async () => {
        const again = await connect(url, { path })
        again.send({ type: 'state' })
        return (await again.next()).data.step_count
      })
      .toBe(1)
  })

  it('lists tools, opens an episode for clients that cannot reset, and plays calls without a session alone', async () => {
    const { url } = await serveOpenEnv()
    expect((await rpc(url, 'tools/list')).result.tools[0]).toMatchObject({ name: 'guess', input_schema: {} })
    const { session_id: id } = (await rpc(url, 'openenv/session/create')).result
    const call = (params: object) => rpc(url, 'tools/call', { name: 'guess', arguments: { value: 500 }, ...params })
    const calls = await Promise.all([call({ session_id: id }), call({ session_id: id })])
    expect(calls.map(({ result }) => result.metadata.seq).sort()).toEqual([1, 2])
    expect((await call({})).result.metadata.seq).toBe(1)
  })

  it('closes a session, at once or when its WebSocket is gone', async () => {
    const { url } = await serveOpenEnv()
    const create = async () => (await rpc(url, 'openenv/session/create')).result.session_id
    const close = (id: string) => rpc(url, 'openenv/session/close', { session_id: id })
    const id = await create()
    expect((await close(id)).result).toEqual({ session_id: id, closed: true })
    expect(await close(id)).toMatchObject({ error: { code: 1404, message: 'Unknown session_id.' } })
    const attached = await create()
    const client = await connect(url, { path: `/ws?session_id=${attached}` })
    expect((await close(attached)).result).toEqual({ session_id: attached, closed: false, closing: true })
    client.send({ type: 'close' })
    await client.closed
    await expect.poll(async () => (await close(attached)).error?.code).toBe(1404)
    expect(await rpc(url, 'openenv/session/close')).toMatchObject({ error: { code: -32602 } })
  })

  it('keeps the sessions of two principals and of two environments apart', async () => {
    const { url, market } = await serveOpenEnv()
    const { session_id: id } = (await rpc(url, 'openenv/session/create')).result
    for (const [base, token] of [
      [url, ADA],
      [market, TOKEN],
    ] as const) {
      for (const method of ['tools/list', 'tools/call', 'openenv/session/close'])
        expect(await rpc(base, method, { session_id: id, name: 'guess' }, token)).toMatchObject({
          error: { code: 1404 },
        })
      const client = await connect(base, { token, path: `/ws?session_id=${id}` })
      expect(await client.next()).toMatchObject({ type: 'error', data: { code: 'SESSION_ERROR' } })
    }
    expect((await rpc(url, 'tools/list', { session_id: id })).result).toBeDefined()
  })

  it('forgets a session that is idle, unless a WebSocket is attached', async () => {
    // Longer than a busy machine takes to attach one.
    const { url } = await serveOpenEnv({ sessions: 2 }, {}, { bounds: { idleSeconds: 3 } })
    const create = async () => (await rpc(url, 'openenv/session/create')).result?.session_id
    const client = await connect(url, { path: `/ws?session_id=${await create()}` })
    const idle = await create()
    // There is no place for a third, until one is forgotten.
    await expect.poll(create, { interval: 200 }).toBeDefined()
    const closed = await rpc(url, 'openenv/session/close', { session_id: idle })
    expect(closed.error?.code).toBe(1404)
    expect(await client.state()).toMatchObject({ type: 'state' })
  })
})
