import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, openChannel } from '@episodic/env'
import { type Channel, type JsonObject, METHOD_SCHEMAS, METHODS } from '@episodic/protocol'
import { childrenOf, has, startRedis } from '@episodic/runs/base/programs.fixture'
import type { RedisServer } from '@episodic/runs/base/redis-server'
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

  it("play at the agent endpoint too: by session URL, and by a transport's id", async () => {
    const [first, second] = [await serve(), await serve()]
    await using trainer = await openTrainer(first)
    const asked = { environment: 'sum', requestKey: crypto.randomUUID() }
    const opened = METHOD_SCHEMAS.open.result.parse(await trainer.request(METHODS.open, asked))
    // The same key at the other process is the same session, with the same secrets.
    await using other = await openTrainer(second)
    expect(await other.request(METHODS.open, asked)).toEqual(opened)

    const capability = `/s/${opened.seats.agent?.capability}`
    const byUrl = (server: Serving, value: number) => callTool(`${server.agentUrl}${capability}`, value)
    for (let value = 1; value <= 10; value++)
      expect(await byUrl(value % 2 ? first : second, value)).toMatchObject({ total: sumTo(value) })

    const transport = await initialize(first.agentUrl)
    const byTransport = (server: Serving, value: number) => callTool(server.agentUrl, value, transport)
    for (let value = 1; value <= 10; value++)
      expect(await byTransport(value % 2 ? second : first, value)).toMatchObject({ total: sumTo(value) })

    first.kill('SIGKILL')
    await first.ended
    const third = await serve()
    for (let value = 11; value <= 20; value++) {
      expect(await byUrl(value % 2 ? third : second, value)).toMatchObject({ total: sumTo(value) })
      expect(await byTransport(value % 2 ? second : third, value)).toMatchObject({ total: sumTo(value) })
    }
    const watched = await other.request(METHODS.watch, { session: opened.session, limit: 1_000 })
    const log = METHOD_SCHEMAS.watch.result.parse(watched).steps
    expect(log.map(({ action, report }) => [action.arguments.value, report.seq])).toEqual(
      Array.from({ length: 20 }, (_, i) => [i + 1, i + 1]),
    )
    // A transport id that was closed at one process is unknown to the others.
    await fetch(third.agentUrl, { method: 'DELETE', headers: { 'Mcp-Session-Id': transport } })
    for (const { agentUrl } of [second, third]) {
      const { status } = await post(agentUrl, 'tools/call', { name: 'add', arguments: { value: 0 } }, transport)
      expect(status).toBe(404)
    }
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

/** Sends one message to an agent endpoint, as a plain client sends it. */
function post(url: string, method: string, params: JsonObject, transport?: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(transport !== undefined && { 'mcp-session-id': transport }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
}

async function initialize(url: string): Promise<string> {
  const clientInfo = { name: 'test', version: '1.0.0' }
  const response = await post(url, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  return response.headers.get('mcp-session-id') as string
}

async function callTool(url: string, value: number, transport?: string): Promise<unknown> {
  const response = await post(url, 'tools/call', { name: 'add', arguments: { value } }, transport)
  const { result } = (await response.json()) as { result: { structuredContent: unknown } }
  return result.structuredContent
}
