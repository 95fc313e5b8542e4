import type { Task } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { ADA, ask, connect, rpc, serveOpenEnv, TOKEN } from '../fixtures/serve-openenv.fixture.ts'

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
