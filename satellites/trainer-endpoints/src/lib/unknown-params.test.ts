import { createHost } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { NemoGymClient, row } from './fixtures/nemo-gym-client.fixture.ts'
import { numberGuessing } from './fixtures/number-guessing.fixture.ts'
import { serveNemoGym } from './nemo-gym/serve-nemo-gym.ts'
import { openEnvRoutes } from './openenv/routes.ts'
import { serveOrs } from './ors/serve-ors.ts'

const SAID = /There is no "hihg"\. Did you mean "high"\? There is: low, high/
const params = { hihg: 10 }

async function serve() {
  const stack = new AsyncDisposableStack()
  onTestFinished(() => stack.disposeAsync())
  const host = stack.use(createHost({ environments: [numberGuessing] }))
  const auth = { controlToken: 'a-control-token-of-tests' }
  const server = stack.use(await serveHttp(host, { auth, extraRoutes: openEnvRoutes(host) }))
  const ors = stack.use(await serveOrs(host, { auth }))
  const nemoGym = stack.use(await serveNemoGym(host))
  const post = async (url: string, body: object, headers: object = {}) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${auth.controlToken}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: JSON.stringify(await response.json()).replaceAll('\\"', '"') }
  }
  return { host, server, ors, nemoGym, post }
}

describe('a parameter that a world does not know', () => {
  it('is rejected by every endpoint of trainers, which opens nothing', async () => {
    const { host, server, ors, nemoGym, post } = await serve()
    const opened = await post(server.trainerUrl, {
      jsonrpc: '2.0',
      id: 1,
      method: 'environment/open',
      params: { environment: 'number-guessing', params, requestKey: 'a-key-of-this-test' },
    })
    expect(opened.text).toMatch(SAID)
    const openEnv = `http://127.0.0.1:${server.port}/openenv/number-guessing/reset`
    for (const data of [params, { params }, { seed: 1, ...params }]) {
      const reset = await post(openEnv, data)
      expect([reset.status, reset.text]).toEqual([422, expect.stringMatching(SAID)])
    }
    const created = await post(
      `${ors.origin}/create`,
      { env_name: 'number-guessing', task_spec: { params } },
      { 'x-session-id': 'a-session' },
    )
    expect([created.status, created.text]).toEqual([422, expect.stringMatching(SAID)])
    for (const path of ['seed_session', 'reset']) {
      const seeded = await new NemoGymClient(nemoGym.origin).post(path, row({ params }))
      expect([seeded.status, seeded.body.detail]).toEqual([422, expect.stringMatching(SAID)])
      expect((await new NemoGymClient(nemoGym.origin).post(path, row({ parmas: {} }))).status).toBe(422)
    }
    expect((await host.list({ limit: 1 })).total).toBe(0)
  })
})
