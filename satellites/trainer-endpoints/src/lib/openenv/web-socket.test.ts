import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { ADA, connect, rpc, serveOpenEnv, TOKEN } from '../fixtures/serve-openenv.fixture.ts'

/** Asks for a WebSocket and resolves with the status that rejects it. */
async function refused(url: string, token: string | null = null): Promise<number> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` }
  const webSocket = new WebSocket(url.replace(/^http/, 'ws'), { headers })
  webSocket.on('error', () => {})
  const [, response] = await once(webSocket, 'unexpected-response')
  return response.statusCode
}

describe('the WebSocket of OpenEnv', () => {
  it('ends with done, and says why beside it', async () => {
    const { url, market } = await serveOpenEnv()
    const client = await connect(url)
    await client.reset({ low: 1, high: 1 })
    const { data } = await client.guess(1)
    expect(data).toMatchObject({
      done: true,
      metadata: { end: { kind: 'terminated', reason: 'solved' }, success: true },
    })
    expect(data.reward).toBeCloseTo(0.99)
    expect(await client.guess(1)).toMatchObject({
      type: 'error',
      data: { code: 'EXECUTION_ERROR', error: 'episode-ended' },
    })
    const seller = await connect(market)
    await seller.reset({ limits: { goods: 9 } })
    const sell = () => seller.request({ type: 'step', data: { tool_name: 'sell.all-now', arguments: { to: 'ada' } } })
    expect(await sell()).toMatchObject({
      data: { done: false, reward: 1.5, observation: { result: { data: { goods: 8 } } } },
    })
    await sell()
    expect(await sell()).toMatchObject({
      data: { done: true, metadata: { end: { kind: 'truncated', reason: 'step-limit' } } },
    })
  })

  it('answers a refused step as a step', async () => {
    const { url } = await serveOpenEnv()
    const client = await connect(url)
    await client.reset()
    expect((await client.guess(500)).data).toMatchObject({
      reward: -0.01,
      done: false,
      observation: { result: { data: expect.stringContaining('500 is out of range.'), is_error: true }, error: null },
      metadata: { refused: 'rules', seq: 1 },
    })
    expect((await client.guess('seven')).data).toMatchObject({
      reward: -0.01,
      observation: { result: { is_error: true }, error: { error_type: 'invalid_args' } },
    })
    const unknown = await client.request({ type: 'step', data: { type: 'call_tool', tool_name: 'reset' } })
    expect(unknown.data).toMatchObject({ observation: { error: { error_type: 'tool_not_found' } } })
  })

  it('lists the tools before the first reset, and takes a step only after it', async () => {
    const { url } = await serveOpenEnv()
    const client = await connect(url)
    const { data } = await client.request({ type: 'step', data: { type: 'list_tools' } })
    expect(data).toMatchObject({ reward: null, done: false })
    expect(data.observation.tools).toEqual([
      { name: 'guess', description: 'Guess the number.', input_schema: expect.objectContaining({ type: 'object' }) },
    ])
    expect((await client.state()).data).toEqual({ episode_id: null, step_count: 0 })
    expect(await client.guess(1)).toMatchObject({
      type: 'error',
      data: { code: 'EXECUTION_ERROR', message: 'This session has no episode: send reset first.' },
    })
  })

  it.each([
    ['{', 'INVALID_JSON'],
    ['[]', 'VALIDATION_ERROR'],
    ['{}', 'UNKNOWN_TYPE'],
    ['{"type":"jump"}', 'UNKNOWN_TYPE'],
    ['{"type":"step"}', 'VALIDATION_ERROR'],
    ['{"type":"step","data":{"value":5}}', 'VALIDATION_ERROR'],
    ['{"type":"step","data":{"type":"dance"}}', 'VALIDATION_ERROR'],
    ['{"type":"step","data":{"tool_name":"guess","arguments":[]}}', 'VALIDATION_ERROR'],
    ['{"type":"reset","data":[]}', 'VALIDATION_ERROR'],
    ['{"type":"reset","data":{"seed":{}}}', 'VALIDATION_ERROR'],
    ['{"type":"reset","data":{"episode_id":7}}', 'VALIDATION_ERROR'],
    ['{"type":"reset","data":{"low":"one"}}', 'VALIDATION_ERROR'],
    ['{"type":"reset","data":{"params":7}}', 'VALIDATION_ERROR'],
  ])('answers %s with %s, and goes on', async (frame, code) => {
    const { url } = await serveOpenEnv()
    const client = await connect(url)
    expect(await client.request(frame)).toMatchObject({ type: 'error', data: { code, message: expect.any(String) } })
    expect(await client.reset()).toMatchObject({ type: 'observation' })
  })

  it('answers a failure with an error, never with a reward', async () => {
    const { market } = await serveOpenEnv()
    const client = await connect(market)
    await client.reset({ limits: { goods: 2 } })
    const sell = (to: string) =>
      client.request({ type: 'step', data: { tool_name: 'sell.all-now', arguments: { to } } })
    expect(await sell('nobody')).toMatchObject({
      type: 'error',
      data: { code: 'EXECUTION_ERROR', error: 'environment-failed', reference: expect.any(String) },
    })
    const leak = await sell('thief')
    expect(leak).toMatchObject({ type: 'error', data: { code: 'EXECUTION_ERROR' } })
    expect(JSON.stringify(leak)).not.toContain('horse')
    expect(JSON.stringify(await client.state())).not.toContain('horse')
  })

  it('closes the episode with the connection, whether the client says so or not', async () => {
    const { url, host } = await serveOpenEnv()
    const clients = await Promise.all([connect(url), connect(url)])
    for (const client of clients) await client.reset()
    expect((await host.list({ limit: 10 })).total).toBe(2)
    clients[0].send({ type: 'close' })
    clients[1].webSocket.terminate()
    await expect.poll(async () => (await host.list({ limit: 10 })).total).toBe(0)
  })

  it('rejects clients without a token of the trainer endpoint', async () => {
    const agentTokens = { 'a-token-for-the-agent-endpoint': 'bob' }
    const auth = { controlToken: TOKEN, agentTokens }
    for (const more of [{}, { auth }]) {
      const { url, host } = await serveOpenEnv({}, more)
      const opened = await host.open('control', { environment: 'number-guessing', requestKey: 'k'.repeat(22) })
      const { capability } = Object.values(opened.seats)[0] as { capability: string }
      for (const token of [null, 'wrong', Object.keys(agentTokens)[0] as string, capability, opened.session]) {
        expect(await refused(`${url}/ws`, token)).toBe(401)
        if (token) expect(await refused(`${url.replace('/openenv', `/openenv/token/${token}`)}/ws`)).toBe(401)
      }
    }
  })

  it('has a limit of sessions, which every client leaves by closing', async () => {
    const { url } = await serveOpenEnv({ sessions: 1 })
    const first = await connect(url)
    const second = await connect(url)
    expect(await second.next()).toMatchObject({
      type: 'error',
      data: { code: 'CAPACITY_REACHED', active_sessions: 1, max_sessions: 1 },
    })
    expect(await second.closed).toBe(1000)
    expect(await rpc(url, 'openenv/session/create')).toMatchObject({ error: { data: { max_sessions: 1 } } })
    first.webSocket.close()
    await first.closed
    await expect.poll(async () => (await rpc(url, 'openenv/session/create')).result).toBeDefined()
  })

  it('answers what it has received when the server stops, and takes nobody in', async () => {
    const { url, server } = await serveOpenEnv()
    const client = await connect(url)
    client.send({ type: 'reset' })
    expect(await client.next()).toMatchObject({ type: 'observation' })
    const drained = server.drain()
    expect(await client.closed).toBe(1001)
    expect(await drained).toBe(0)
    expect(await refused(`${url}/ws`, TOKEN)).toBe(503)
  })

  it('speaks JSON-RPC in frames of their own type, and at /mcp', async () => {
    const { url } = await serveOpenEnv()
    const client = await connect(url)
    const call = { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'guess', arguments: { value: 500 } } }
    const { type, data } = await client.request({ type: 'mcp', data: call })
    expect([type, data.id, data.result.reward, data.result.tool_name]).toEqual(['mcp', 5, -0.01, 'guess'])
    const bare = await connect(url, { path: '/mcp', token: ADA })
    expect(await bare.request(call)).toMatchObject({ id: 5, result: { done: false, metadata: { seq: 1 } } })
    expect(await bare.request(call)).toMatchObject({ result: { metadata: { seq: 2 } } })
    expect(await bare.request('{')).toMatchObject({ id: null, error: { code: -32700 } })
    expect(await bare.request({ jsonrpc: '2.0', id: 6, method: 'openenv/session/create' })).toMatchObject({
      error: { code: -32600 },
    })
  })
})
