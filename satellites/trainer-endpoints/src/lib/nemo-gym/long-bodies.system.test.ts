import { createHost } from '@episodic/mcp-server'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { NemoGymClient, row } from '../fixtures/nemo-gym-client.fixture.ts'
import { numberGuessing } from '../fixtures/number-guessing.fixture.ts'
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
