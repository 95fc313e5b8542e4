import { PassThrough } from 'node:stream'
import { DEFAULT_SEAT } from '@episodic/protocol'
import { MODERN_VERSION } from '@episodic/protocol/internal'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cellar, plainCellar } from '../fixtures/cellar.fixture.ts'
import { lamp } from '../fixtures/lamp.fixture.ts'
import { createTestHost, INITIALIZE, openOverHttp, rpc, serveTestHost } from '../fixtures/testbed.fixture.ts'
import { serveStdio } from '../stdio/serve-stdio.ts'

/** What the tests need of a client; `changed` resolves when it was notified that its tools have changed. */
interface Player {
  changed(): Promise<void>
  tools(): Promise<readonly string[]>
  call(tool: string, args?: Record<string, unknown>): Promise<{ readonly [key: string]: unknown }>
}

function notices() {
  let waiting = Promise.withResolvers<void>()
  return {
    add: () => waiting.resolve(),
    async changed() {
      await waiting.promise
      waiting = Promise.withResolvers<void>()
    },
  }
}

async function connectFirst(url: string): Promise<Player> {
  const { add, changed } = notices()
  const client = new Client({ name: 'first', version: '1.0.0' })
  client.setNotificationHandler(ToolListChangedNotificationSchema, add)
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
  return playerOf(client, changed)
}

async function connectSecond(url: string, mode: 'legacy' | { pin: string }): Promise<Player> {
  const { add, changed } = notices()
  const client = new ModernClient(
    { name: 'second', version: '1.0.0' },
    { versionNegotiation: { mode }, listChanged: { tools: { autoRefresh: false, onChanged: add } } },
  )
  onTestFinished(() => client.close())
  await client.connect(new ModernTransport(new URL(url)))
  return playerOf(client, changed)
}

function playerOf(client: Client | ModernClient, changed: Player['changed']): Player {
  return {
    changed,
    tools: async () => (await (client as Client).listTools()).tools.map(({ name }) => name),
    call: (name, args = {}) => (client as Client).callTool({ name, arguments: args }),
  }
}

const CLIENTS: readonly (readonly [string, (url: string) => Promise<Player>])[] = [
  ['SDK 1', connectFirst],
  ['SDK 2 before 2026', (url) => connectSecond(url, 'legacy')],
  ['SDK 2 of 2026', (url) => connectSecond(url, { pin: MODERN_VERSION })],
]

async function serveCellar(params: object = {}) {
  const { server } = await serveTestHost({}, { environments: [cellar] })
  const { seats } = await openOverHttp(server, { environment: 'cellar', params: params as never })
  return server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string)
}

describe('tools that change within an episode', () => {
  it.each(CLIENTS)('are listed as they are, and a client is notified: %s at a session URL', async (_, connect) => {
    const player = await connect(await serveCellar())
    expect(await player.tools()).toEqual(['search', 'look'])
    expect(await player.call('unlock', { times: 1 })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('There is no tool "unlock". The tools are: search, look.') }],
    })
    await player.call('look')
    await player.call('search')
    await player.changed()
    expect(await player.tools()).toEqual(['look', 'unlock'])
    expect(await player.call('search')).toMatchObject({ isError: true })
    expect(await player.call('unlock', { times: 1 })).toMatchObject({ structuredContent: { episode_over: true } })
  })

  it.each(CLIENTS)('begin as the parameters of the task say: %s', async (_, connect) => {
    const player = await connect(await serveCellar({ hidden: ['look'] }))
    expect(await player.tools()).toEqual(['search'])
  })

  it.each(CLIENTS.slice(0, 2))('are those of a session that opens at its first call: %s', async (_, connect) => {
    const { server } = await serveTestHost({}, { environments: [plainCellar] })
    const player = await connect(server.agentUrl)
    expect(await player.tools()).toEqual(['search', 'look'])
    await player.call('search')
    await player.changed()
    expect(await player.tools()).toEqual(['look', 'unlock'])
  })

  it('are all listed for a client that names its sessions in its calls, which are refused all the same', async () => {
    const { server } = await serveTestHost({}, { environments: [cellar] })
    const player = await connectSecond(server.agentUrl, { pin: MODERN_VERSION })
    expect(await player.tools()).toEqual(['create_cellar', 'search', 'look', 'unlock', 'destroy_cellar'])
    const { structuredContent } = await player.call('create_cellar')
    const { cellar_id } = structuredContent as { cellar_id: string }
    expect(await player.call('unlock', { cellar_id, times: 1 })).toMatchObject({ isError: true })
  })

  it('are announced, uncached and explained at the address of a session, and nowhere else', async () => {
    const url = await serveCellar()
    const { json } = await rpc(url, 'initialize', INITIALIZE)
    expect(json.result?.capabilities).toMatchObject({ tools: { listChanged: true } })
    const prompt = await rpc(url, 'prompts/get', { name: 'instructions' })
    expect(prompt.text).toContain('Search the floor')
    expect(prompt.text).not.toContain('Unlock the hatch')
    const { server } = await serveTestHost({}, { environments: [lamp, cellar] })
    const still = await rpc(server.agentUrl, 'initialize', INITIALIZE)
    expect(still.json.result?.capabilities).toMatchObject({ tools: {} })
    expect(still.text).not.toContain('listChanged')
  })

  it('change over a pipe too', async () => {
    const { host } = createTestHost({ environments: [plainCellar] })
    const [input, output] = [new PassThrough(), new PassThrough()]
    const served = serveStdio(host, { input, output })
    const lines: { id?: number; method?: string; result?: { tools?: { name: string }[] } }[] = []
    let received = Promise.withResolvers<void>()
    output.on('data', (data: Buffer) => {
      lines.push(
        ...String(data)
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      )
      received.resolve()
    })
    const until = async (find: (line: (typeof lines)[number]) => boolean) => {
      for (;;) {
        const found = lines.find(find)
        if (found) return found
        await received.promise
        received = Promise.withResolvers<void>()
      }
    }
    const ask = async (id: number, method: string, params: object = {}) => {
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      return until((line) => line.id === id)
    }
    await ask(1, 'initialize', INITIALIZE)
    input.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
    const names = async (id: number) => (await ask(id, 'tools/list')).result?.tools?.map(({ name }) => name)
    expect(await names(2)).toEqual(['search', 'look'])
    await ask(3, 'tools/call', { name: 'search', arguments: {} })
    await until(({ method }) => method === 'notifications/tools/list_changed')
    expect(await names(4)).toEqual(['look', 'unlock'])
    input.end()
    await served
  })
})
