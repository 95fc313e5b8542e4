import { createHost } from '@episodic/mcp-server'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { NemoGymClient, row } from '../fixtures/nemo-gym-client.fixture.ts'
import { numberGuessing } from '../fixtures/number-guessing.fixture.ts'
import { BODY_JOBS } from './body-jobs.ts'
import { BodyThread } from './body-thread.ts'
import { serveNemoGym } from './serve-nemo-gym.ts'

async function openClient(): Promise<NemoGymClient> {
  const host = createHost({ environments: [numberGuessing] })
  const server = await serveNemoGym(host)
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]()
    await host[Symbol.asyncDispose]()
  })
  return new NemoGymClient(server.origin)
}

const thread = new BodyThread()
afterAll(() => thread.end())

const metrics = (members: number) =>
  `{"verify_responses":[{${Array.from({ length: members }, (_, i) => `"_k${i}":1`)},"reward":1}]}`

describe('BodyThread', () => {
  it('lets the main thread go on while a long body is parsed, and throws what its job throws', async () => {
    const text = metrics(500_000)
    let turns = 0
    const counting = setInterval(() => (turns += 1), 0)
    expect(JSON.parse(await thread.run('metrics', text))).toMatchObject({ agent_metrics: { 'mean/reward': 1 } })
    clearInterval(counting)
    // In the main thread it would be answered in the turn in which it is asked.
    expect(turns).toBeGreaterThan(3)
    await expect(thread.run('metrics', metrics(4_500_000))).rejects.toMatchObject({ code: 'invalid-request' })
    await expect(thread.run('row', '['.repeat(100_000))).rejects.toMatchObject({ code: 'invalid-request' })
    await expect(thread.run('row', `${' '.repeat(100_000)}{`)).rejects.toMatchObject({ code: 'parse-error' })
  })

  it('says what is played the same of a long body as of a short one', async () => {
    const call = { type: 'function_call', call_id: '1', name: 'guess', arguments: '{"value":1}', status: 'completed' }
    const output = [
      { type: 'message', text: 'Hm.' },
      call,
      { type: 'function_call_output', call_id: '1', output: 'No.' },
    ]
    const body = { ...row(), response: { output, tokens: [1, 2], incomplete_details: { reason: 'length' } } }
    const long = { ...body, response: { ...body.response, tokens: Array(50_000).fill(1) } }
    const value = await thread.run('row', JSON.stringify(long))
    expect(value).toEqual(BODY_JOBS.row(JSON.stringify(body)))
    expect(value).toMatchObject({ ...row(), response: { output: [{ name: 'guess' }, { output: 'No.' }] } })
  })

  it('rejects calls whose arguments hold too much in all', async () => {
    const args = JSON.stringify({ list: Array(5_000).fill(0) })
    const output = Array.from({ length: 30 }, (_, i) => ({
      type: 'function_call',
      call_id: `${i}`,
      name: 'a',
      arguments: args,
    }))
    const text = JSON.stringify({ ...row(), response: { output } })
    await expect(thread.run('row', text)).rejects.toThrow(
      /The values of the calls of the response hold more than 100000 values|holds more than 100000 values/,
    )
  })
})

describe('serveNemoGym rejects, before it parses it, a body that costs too much', () => {
  const many = (unit: string, count: number) => `[${Array(count).fill(unit)}]`
  const withResponse = (all: string) => `${JSON.stringify(row()).slice(0, -1)},"response":{"output":[],"all":${all}}}`

  it.each([
    ['aggregate_metrics', null, (responses: string) => `{"verify_responses":${responses}}`],
    ['verify', 'seed_session', withResponse],
    ['step', 'reset', withResponse],
  ] as const)('at /%s', async (path, opening, bodyWith) => {
    const agent = await openClient()
    if (opening) await agent.post(opening, row())
    const post = async (member: string) => {
      const { status, text } = await agent.post(path, bodyWith(member), { keeps: false })
      return `${status} ${text}`
    }
    expect(await post(many('{}', 300_100))).toMatch(/^400 .*more than 300000 arrays and objects/)
    expect(await post('['.repeat(100_000))).toMatch(/^400 .*nests more than 64 deep/)
    expect(await post(many('0', 10_000_100))).toMatch(/^400 .*more than 10000000 values/)
    if (opening) expect(await post(many('0', 1_000_000))).toMatch(/^200 /)
  })
})

describe('serveNemoGym', () => {
  it('answers a call of a model that is longer than a call may be as a call, at the routes for whole rows', async () => {
    const agent = await openClient()
    await agent.post('seed_session', row())
    for (const name of ['verify', 'seed_session'])
      expect((await agent.post(name, { a: 'x'.repeat(1_100_000) })).status).toBe(200)
  })
})
