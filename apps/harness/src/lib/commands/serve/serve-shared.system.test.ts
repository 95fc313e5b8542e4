import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, openChannel } from '@episodic/env'
import { type Channel, METHOD_SCHEMAS, METHODS } from '@episodic/protocol'
import { childrenOf, has, startRedis } from '@episodic/run/base/programs.fixture'
import type { RedisServer } from '@episodic/run/base/redis-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, type Serving } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

/** A world that shows every step that was lost or doubled: its total is the sum of what was added. */
const SUM_WORLD = `
import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { z } from '${import.meta.resolve('zod')}'
export const environment = defineEnvironment({
  name: 'sum',
  version: '1.0.0',
  description: 'Add numbers up.',
  handle: false,
  params: z.object({}),
  state: { public: z.object({ total: z.int() }), private: z.object({}) },
  start: () => ({ public: { total: 0 }, private: {} }),
  observe: ({ total }) => String(total),
  tools: ({ tool }) => ({
    add: tool({
      description: 'Add a number.',
      input: z.object({ value: z.int() }),
      output: z.object({ total: z.int() }),
      play({ state, input, say }) {
        state.public.total += input.value
        return say(String(state.public.total), { total: state.public.total })
      },
    }),
  }),
  rewards: { added: ({ before, after }) => after.public.total - before.public.total },
})
`
const TOKEN = 'the-same-for-all-of-them'
const env = { EPISODIC_CONTROL_TOKEN: TOKEN }
const sumTo = (count: number) => (count * (count + 1)) / 2

// Needs redis-server and pgrep: apt-get install redis-server procps
describe.skipIf(!has('redis-server') || !has('pgrep'))('several processes of episodic serve on one Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
    writeFileSync(join(workshop.folder, 'sum.ts'), SUM_WORLD)
  })
  afterAll(() => redis?.[Symbol.asyncDispose]())
  const serve = (...options: string[]) => workshop.serve(['./sum.ts', '--store', redis.url, ...options], { env })

  it('take turns in one session, with one killed in the middle of a step (invariant 2)', async () => {
    const servers = [await serve(), await serve()]
    await using way = await alternate(servers)
    await using connection = await connect(way.channel)
    await using environment = connection.environment()
    const start = await environment.reset()
    let rewards = 0
    const add = async (value: number) => {
      const { observation, reward, info } = await environment.step({ tool: 'add', arguments: { value } })
      expect([observation.structured, info.seq]).toEqual([{ total: sumTo(value) }, value])
      rewards += reward.total
    }
    for (let value = 1; value <= 20; value++) await add(value)
    expect(way.asked).toEqual([expect.any(Number), expect.any(Number)])
    expect(Math.min(...way.asked)).toBeGreaterThanOrEqual(10)
    // The first process dies during or after the step. A retry goes to the second one.
    way.next(0)
    const inFlight = add(21)
    servers[0]?.kill('SIGKILL')
    await inFlight
    await servers[0]?.ended
    for (let value = 22; value <= 30; value++) await add(value)
    // Another process replaces it.
    await way.replace(0, await serve())
    for (let value = 31; value <= 40; value++) await add(value)
    expect(rewards).toBe(sumTo(40))
    expect(await listed(servers[1] as Serving, start.info.id as string)).toMatchObject({ steps: 40 })
  })

  it('share one port with --processes, are replaced when they die, and stop together', async () => {
    const server = await serve('--processes', '2')
    const [killed, asked] = childrenOf(server.pid) as [number, number]
    {
      await using connection = await connect({ url: server.url, token: TOKEN })
      await using environment = connection.environment()
      await environment.reset()
      const add = async (value: number) => {
        const { observation, info } = await environment.step({ tool: 'add', arguments: { value } })
        expect([observation.structured, info.seq]).toEqual([{ total: sumTo(value) }, value])
      }
      for (let value = 1; value <= 10; value++) await add(value)
      process.kill(killed, 'SIGKILL')
      for (let value = 11; value <= 20; value++) await add(value)
      await server.until(new RegExp(`"ended":${killed},.*SIGKILL`))
      process.kill(asked, 'SIGTERM')
      for (let value = 21; value <= 30; value++) await add(value)
      await server.until(new RegExp(`"ended":${asked},"status":0`))
    }
    server.kill('SIGTERM')
    expect((await server.ended).status).toBe(0)
    await expect(fetch(server.url)).rejects.toThrow()
  })
})

it.each([
  [
    ['--processes', '2'],
    /^error: --processes 2 needs a store that processes can share, and memory belongs to one process/,
  ],
  [['--processes', '2', '--store', 'sqlite:x.db'], /^error: --processes 2 needs a store that processes can share/],
  [['--processes', '2', '--store', 'redis://127.0.0.1:1', '--stdio'], /^error: --processes 2 needs HTTP/],
])('rejects %j', async (options, message) => {
  const { status, err } = await workshop.main(['serve', exampleWorld('number-guessing'), ...options])
  expect([status, err]).toEqual([2, expect.stringMatching(message)])
})

/**
 * A channel over several servers that sends each call to the next one, as a load balancer without sticky sessions does.
 */
async function alternate(servers: readonly Serving[]) {
  const channels = await Promise.all(servers.map(openTrainer))
  const asked = servers.map(() => 0)
  let turn = 0
  const channel: Channel = {
    request(method, params, options) {
      const chosen = turn++ % channels.length
      asked[chosen] = (asked[chosen] ?? 0) + 1
      return (channels[chosen] as Channel).request(method, params, options)
    },
    async close() {},
  }
  return {
    channel,
    asked,
    next(server: number) {
      turn = server
    },
    async replace(i: number, server: Serving) {
      await channels[i]?.close()
      channels[i] = await openTrainer(server)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(channels.map((channel) => channel.close()))
    },
  }
}

function openTrainer({ url }: Serving): Promise<Channel & AsyncDisposable> {
  return openChannel({ url, token: TOKEN }).then((channel) => ({
    ...channel,
    [Symbol.asyncDispose]: () => channel.close(),
  }))
}

/** Returns the entry of a session in a server's list of sessions. */
async function listed(server: Serving, id: string): Promise<unknown> {
  await using channel = await openTrainer(server)
  const { sessions } = METHOD_SCHEMAS.sessions.result.parse(await channel.request(METHODS.sessions, { limit: 1_000 }))
  return sessions.find((session) => session.id === id)
}
