import { request as httpRequest } from 'node:http'
import { PassThrough, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { DEFAULT_SEAT, MODERN_VERSION } from '@episodic/protocol'
import { createManualClock } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import {
  StreamableHTTPClientTransport as ModernHttpTransport,
  Client as ModernSdkClient,
} from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernStdioTransport } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'
import { MODERN_META, modernHeaders } from './eras.fixture.ts'
import { nextTurn } from './event-loop.ts'
import type { HttpOptions } from './http-server.ts'
import { openInProcess } from './in-process.ts'
import { createMarket } from './market.fixture.ts'
import { numberGuessing } from './number-guessing.fixture.ts'
import { serveStdio } from './stdio-server.ts'
import { tally } from './tally.fixture.ts'
import {
  asking,
  call,
  controlHeaders,
  createTestHost,
  initialize,
  openOverHttp,
  rpc,
  send,
  serve,
  serveTestHost,
} from './testbed.fixture.ts'
import { PASSWORD, vault } from './vault.fixture.ts'
import { openWebSocket } from './web-socket.fixture.ts'

const STATE = 'episodic://session/state'
const STDIO = fileURLToPath(new URL('./serve-stdio.fixture.ts', import.meta.url))

/** A world with a secret side: what is told of it, and when, has to depend on the other side alone. */
const lamp = defineEnvironment({
  name: 'lamp',
  version: '1.0.0',
  description: 'A lamp, and a switch that sometimes does nothing.',
  params: z.object({}),
  state: { public: z.object({ lit: z.boolean() }), private: z.object({ presses: z.int() }) },
  start: () => ({ public: { lit: false }, private: { presses: 0 } }),
  observe: ({ lit }) => (lit ? 'It is lit.' : 'It is dark.'),
  tools: ({ tool }) => ({
    press: tool({
      description: 'Presses the switch.',
      input: z.object({ works: z.boolean() }),
      play({ state, input, say }) {
        state.private.presses += 1
        state.public.lit = state.public.lit !== input.works
        return say('Pressed.')
      },
    }),
  }),
  rewards: { lit: ({ after }) => (after.public.lit ? 1 : 0) },
})

type Place = string | { readonly command: string; readonly args: string[] }

/** What the tests ask of an official client. `updates` are the resources that it was told of. */
interface Reader {
  readonly client: Pick<Client, 'readResource' | 'listResources' | 'listResourceTemplates' | 'close'>
  call(name: string, args: object): Promise<{ readonly [key: string]: unknown; structuredContent?: unknown }>
  subscribe(uri: string): Promise<() => Promise<unknown>>
  updated(): Promise<string>
}

function updates() {
  const uris: string[] = []
  let changed = Promise.withResolvers<void>()
  return {
    add(uri: string) {
      uris.push(uri)
      changed.resolve()
      changed = Promise.withResolvers<void>()
    },
    async updated() {
      while (uris.length === 0) await changed.promise
      return uris.shift() as string
    },
  }
}

async function connectFirst(place: Place): Promise<Reader> {
  const { add, updated } = updates()
  const client = new Client({ name: 'first', version: '1.0.0' })
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => add(params.uri))
  const transport =
    typeof place === 'string' ? new StreamableHTTPClientTransport(new URL(place)) : new StdioClientTransport(place)
  await client.connect(transport as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
  return {
    client,
    updated,
    call: (name, args) => client.callTool({ name, arguments: { ...args } }),
    async subscribe(uri) {
      await client.subscribeResource({ uri })
      return () => client.unsubscribeResource({ uri })
    },
  }
}

async function connectSecond(place: Place): Promise<Reader> {
  const { add, updated } = updates()
  const client = new ModernSdkClient(
    { name: 'second', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: MODERN_VERSION } } },
  )
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => add(params.uri))
  onTestFinished(() => client.close())
  await client.connect(
    typeof place === 'string' ? new ModernHttpTransport(new URL(place)) : new ModernStdioTransport(place),
  )
  return {
    client: client as unknown as Reader['client'],
    updated,
    call: (name, args) => client.callTool({ name, arguments: { ...args } }),
    async subscribe(uri) {
      const subscription = await client.listen({ resourceSubscriptions: [uri] })
      expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [uri] })
      return () => subscription.close()
    },
  }
}

const read = async ({ client }: Reader, uri: string) => {
  const { contents } = await client.readResource({ uri })
  expect(contents).toMatchObject([{ uri, mimeType: 'application/json' }])
  return JSON.parse((contents[0] as { text: string }).text)
}

/** Reads, subscribes, plays and hears of it, and hears no more after it has unsubscribed. */
async function readAndHear(reader: Reader, uri: string, naming: object = {}) {
  expect(await read(reader, uri)).toEqual({ count: 0 })
  const unsubscribe = await reader.subscribe(uri)
  await reader.call('add', { ...naming, by: 4 })
  expect(await reader.updated()).toBe(uri)
  expect(await read(reader, uri)).toEqual({ count: 4 })
  await unsubscribe()
  await reader.call('add', { ...naming, by: 1 })
  expect(await read(reader, uri)).toEqual({ count: 5 })
  await reader.subscribe(uri)
  await reader.call('add', { ...naming, by: 2 })
  // The first that is heard of after all that: nothing was told in between.
  expect(await reader.updated()).toBe(uri)
}

const ENVIRONMENTS = [tally, lamp, vault, numberGuessing]
const serveWorlds = (options: HttpOptions = {}) => serveTestHost(options, { environments: ENVIRONMENTS })
type Served = Awaited<ReturnType<typeof serveWorlds>>

async function sessionUrl({ server }: Served, environment = 'tally') {
  const { seats } = await openOverHttp(server, { environment })
  return server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string)
}

describe('the public state of a session', () => {
  it.each([
    ['a transport session', async ({ server }: Served): Promise<Place> => server.agentUrl],
    ['a session URL', sessionUrl],
    ['a pipe', async (): Promise<Place> => ({ command: process.execPath, args: [STDIO, 'agent', 'tally'] })],
  ])('is read and listened to in the era before 2026 over %s', async (_, placeOf) => {
    const reader = await connectFirst(await placeOf(await serveWorlds()))
    expect((await reader.client.listResources()).resources).toMatchObject([{ uri: STATE }])
    expect((await reader.client.listResourceTemplates()).resourceTemplates).toEqual([])
    await readAndHear(reader, STATE)
  })

  it('is read and listened to in 2026 at a session URL', async () => {
    const reader = await connectSecond(await sessionUrl(await serveWorlds()))
    expect((await reader.client.listResources()).resources).toMatchObject([{ uri: STATE }])
    await readAndHear(reader, STATE)
  })

  it.each([
    ['HTTP', async ({ server }: Served): Promise<Place> => server.agentUrl],
    ['a pipe', async (): Promise<Place> => ({ command: process.execPath, args: [STDIO, 'agent', 'tally'] })],
  ])('is named by the handle of its session in 2026 over %s', async (_, placeOf) => {
    const reader = await connectSecond(await placeOf(await serveWorlds()))
    expect((await reader.client.listResources()).resources).toEqual([])
    const { resourceTemplates } = await reader.client.listResourceTemplates()
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'episodic://session/{tally_id}/state' }])
    const { structuredContent } = await reader.call('create_tally', {})
    const { tally_id } = structuredContent as { tally_id: string }
    await readAndHear(reader, `episodic://session/${tally_id}/state`, { tally_id })
  })

  it('is read and listened to over a WebSocket', async () => {
    const socket = await openWebSocket(await sessionUrl(await serveWorlds()))
    expect((await socket.ask('resources/read', { uri: STATE })).result).toMatchObject({ contents: [{ uri: STATE }] })
    expect((await socket.ask('resources/subscribe', { uri: STATE })).result).toEqual({})
    socket.send('tools/call', { name: 'add', arguments: { by: 4 } })
    const told = [await socket.next(), await socket.next()]
    expect(told).toContainEqual({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: STATE } })
    expect(told).toContainEqual(expect.objectContaining({ result: expect.anything() }))
  })

  it('is read in process', async () => {
    const { host, server } = await serveWorlds()
    const { seats } = await openOverHttp(server, { environment: 'tally' })
    const capability = seats[DEFAULT_SEAT]?.capability as string
    const door = openInProcess(host, { door: 'agent', principal: null, world: { by: 'capability', capability } })
    const { contents } = (await door.request('resources/read', { uri: STATE })) as { contents: [{ text: string }] }
    expect(JSON.parse(contents[0].text)).toEqual({ count: 0 })
  })

  it('is told of when an outside event has changed it', async () => {
    const { host } = createTestHost({ environments: [createMarket()] })
    const server = await serve(host)
    const { session, seats } = await host.open(null, asking({ environment: 'market' }))
    const reader = await connectSecond(server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string))
    await reader.subscribe(STATE)
    await host.publish(null, session, { id: 'one', type: 'order-filled', data: {} })
    await host.publish(null, session, { id: 'two', type: 'price-changed', data: { price: 7 } })
    expect(await reader.updated()).toBe(STATE)
    expect(await read(reader, STATE)).toMatchObject({ price: 7 })
  })

  it('is told of when another process on the same store has changed it, and keeps no session from expiring', async () => {
    const clock = createManualClock(1_700_000_000_000)
    const store = createMemoryStore()
    const options = { environments: ENVIRONMENTS, store, clock, bounds: { idleSeconds: 60 } }
    const [here, there] = [createTestHost(options).host, createTestHost(options).host]
    const { seats } = await here.open(null, asking({ environment: 'tally' }))
    const capability = seats[DEFAULT_SEAT]?.capability as string
    const look = await here.look(capability)
    expect(look.state).toEqual({ count: 0 })
    const changed = Promise.withResolvers<void>()
    onTestFinished(look.onChange(changed.resolve))
    await there.act(capability, call('add', { by: 2 }))
    clock.advance(1_000)
    await changed.promise
    expect((await here.look(capability)).state).toEqual({ count: 2 })
    for (let i = 0; i < 61; i++) {
      clock.advance(1_000)
      await nextTurn()
    }
    await here.sweep()
    await expect(here.look(capability)).rejects.toMatchObject({ code: 'session-not-found' })
  })

  it('opens the world of a plain client as its first call does, and the same one', async () => {
    const { server, host } = await serveWorlds()
    const headers = await initialize(server.agentUrl)
    expect((await host.sessions({ limit: 5 })).total).toBe(0)
    await rpc(server.agentUrl, 'resources/read', { uri: STATE }, headers)
    await rpc(server.agentUrl, 'tools/call', { name: 'add', arguments: { by: 3 } }, headers)
    const { json } = await rpc(server.agentUrl, 'resources/read', { uri: STATE }, headers)
    expect(json.result).toMatchObject({ contents: [{ text: '{"count":3}' }] })
    expect((await host.sessions({ limit: 5 })).total).toBe(1)
  })

  it('is not at the trusted door, where there is more of it', async () => {
    const { server } = await serveWorlds()
    for (const method of ['resources/list', 'resources/read', 'prompts/list']) {
      const { json } = await rpc(server.trustedUrl, method, { uri: STATE }, controlHeaders(server))
      expect(json.error?.code).toBe(-32601)
    }
  })

  it('says that there is no other, and not which sessions there are', async () => {
    const served = await serveWorlds()
    const url = await sessionUrl(served)
    for (const uri of ['episodic://session/other/state', `${STATE}/`, 'file:///etc/passwd', '', 5, undefined])
      for (const method of ['resources/read', 'resources/subscribe'])
        expect((await rpc(url, method, { uri })).json.error?.code).toBe(-32602)
    const { json } = await rpc(
      served.server.agentUrl,
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: [5] }, _meta: MODERN_META },
      modernHeaders('subscriptions/listen'),
    )
    expect(json.error?.code).toBe(-32602)
  })

  it('has no secret in it that the world declares', async () => {
    const url = await sessionUrl(await serveWorlds(), 'vault')
    await rpc(url, 'tools/call', { name: 'blab', arguments: { where: 'observation' } })
    const answer = await rpc(url, 'resources/read', { uri: STATE })
    expect(answer.json.error?.code).toBe(-32603)
    expect(answer.text).not.toContain(PASSWORD)
  })

  it('is told of when it changes, and not when the rest of the state does', async () => {
    const socket = await openWebSocket(await sessionUrl(await serveWorlds(), 'lamp'))
    await socket.ask('resources/subscribe', { uri: STATE })
    const press = (works: boolean) => socket.ask('tools/call', { name: 'press', arguments: { works } })
    for (let i = 0; i < 3; i++) expect((await press(false)).result).toMatchObject({ structuredContent: { lit: false } })
    socket.send('tools/call', { name: 'press', arguments: { works: true } })
    const told = [await socket.next(), await socket.next()]
    expect(told.filter((message) => 'method' in message)).toHaveLength(1)
  })
})

describe('listening', () => {
  it('ends with the server, which says so in 2026', async () => {
    const served = await serveWorlds()
    const client = new ModernSdkClient({ name: 'x', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    onTestFinished(() => client.close())
    await client.connect(new ModernHttpTransport(new URL(await sessionUrl(served))))
    const subscription = await client.listen({ resourceSubscriptions: [STATE] })
    expect(await served.server.drain()).toBe(0)
    expect(await subscription.closed).toBe('graceful')
  })

  it('to nothing that is there ends at once', async () => {
    const { server } = await serveWorlds()
    const client = new ModernSdkClient({ name: 'x', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    onTestFinished(() => client.close())
    await client.connect(new ModernHttpTransport(new URL(server.agentUrl)))
    const subscription = await client.listen({
      toolsListChanged: true,
      resourceSubscriptions: ['episodic://session/mcp_nonsense/state'],
    })
    expect(subscription.honoredFilter).toEqual({})
    expect(await subscription.closed).toBe('graceful')
  })

  it('tells whoever is behind with reading of a change once, however often it happened', async () => {
    const { host } = createTestHost({ environments: [tally] })
    const lines: string[] = []
    const blocked: (() => void)[] = []
    let heard = Promise.withResolvers<void>()
    const output = new Writable({
      highWaterMark: 1,
      decodeStrings: false,
      write(text: string, _, done) {
        lines.push(...text.trim().split('\n'))
        heard.resolve()
        blocked.push(done)
      },
    })
    const next = async () => {
      while (lines.length === 0) await heard.promise
      heard = Promise.withResolvers()
      return JSON.parse(lines.shift() as string)
    }
    const unblock = () => {
      for (const done of blocked.splice(0)) done()
    }
    const input = new PassThrough()
    const served = serveStdio(host, { input, output })
    const say = (id: number, method: string, params: object) =>
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: MODERN_META } })}\n`)
    say(1, 'tools/call', { name: 'create_tally', arguments: {} })
    const { tally_id } = (await next()).result.structuredContent
    unblock()
    const uri = `episodic://session/${tally_id}/state`
    say(2, 'subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } })
    expect(await next()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' })
    // Nobody takes that for now, and meanwhile the world goes on.
    const world = { by: 'handle', environment: 'tally' } as const
    const door = openInProcess(host, { door: 'agent', principal: null, world })
    for (let i = 0; i < 9; i++) await door.request('tools/call', { name: 'add', arguments: { tally_id, by: 1 } })
    input.end()
    const told: string[] = []
    for (let message = { method: '' }; message.method !== undefined; ) {
      unblock()
      message = await next()
      told.push(message.method)
    }
    unblock()
    await served
    expect(told.filter((method) => method === 'notifications/resources/updated').length).toBeLessThanOrEqual(2)
    expect(told).toContain('notifications/resources/updated')
  })

  it('is bounded for each client', async () => {
    const { server } = await serveWorlds()
    const client = new ModernSdkClient({ name: 'x', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    onTestFinished(() => client.close())
    await client.connect(new ModernHttpTransport(new URL(server.agentUrl)))
    const uris: string[] = []
    for (let i = 0; i < 65; i++) {
      const { structuredContent } = await client.callTool({ name: 'create_tally', arguments: {} })
      uris.push(`episodic://session/${(structuredContent as { tally_id: string }).tally_id}/state`)
    }
    await expect(client.listen({ resourceSubscriptions: uris })).rejects.toThrow(/64 resources at once/)
    const subscription = await client.listen({ resourceSubscriptions: uris.slice(1) })
    await subscription.close()
  })

  it('is bounded for each server: one more is refused, and its client plays all the same', async () => {
    const served = await serveWorlds({ streams: 1 })
    const { server } = served
    const reader = await connectFirst(server.agentUrl)
    await reader.subscribe(STATE)
    const headers = await initialize(server.agentUrl)
    const refused = await send(server.agentUrl, { method: 'GET', headers })
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    const listening = await rpc(
      await sessionUrl(served),
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: [STATE] }, _meta: MODERN_META },
      modernHeaders('subscriptions/listen'),
    )
    expect(listening).toMatchObject({ status: 503, json: { error: { data: { code: 'capacity' } } } })
    const played = await rpc(server.agentUrl, 'tools/call', { name: 'add', arguments: { by: 1 } }, headers)
    expect(played.json.result).toMatchObject({ structuredContent: { count: 1 } })
    await reader.call('add', { by: 1 })
    expect(await reader.updated()).toBe(STATE)
  })

  it('gives a place back when its client goes', async () => {
    const { server } = await serveWorlds({ streams: 1 })
    for (let i = 0; i < 3; i++) {
      const headers = await initialize(server.agentUrl)
      const request = httpRequest(server.agentUrl, { headers: { ...headers, accept: 'text/event-stream' } })
      const opened = new Promise<number | undefined>((resolve) =>
        request.once('response', ({ statusCode }) => resolve(statusCode)),
      )
      request.end()
      expect(await opened).toBe(200)
      expect((await send(server.agentUrl, { method: 'GET', headers })).status).toBe(409)
      const closed = new Promise((resolve) => request.once('close', resolve))
      request.destroy()
      await closed
      // The server hears of it in its own time.
      await expect.poll(() => openAndClose(server.agentUrl)).toBe(200)
    }
  })

  it('wants a session that there is, and ends with it', async () => {
    const { server } = await serveWorlds()
    const listen = (headers: Record<string, string>, url = server.agentUrl) => send(url, { method: 'GET', headers })
    expect((await listen({})).status).toBe(400)
    expect((await listen({ 'mcp-session-id': 'mcp_nonsense' })).status).toBe(404)
    expect((await listen({}, server.sessionUrl('nonsense'))).status).toBe(404)
    const headers = await initialize(server.agentUrl)
    expect((await listen({ ...headers, 'mcp-protocol-version': '1999-01-01' })).status).toBe(400)
    const stream = listen(headers)
    await expect.poll(async () => (await listen(headers)).status).toBe(409)
    await send(server.agentUrl, { method: 'DELETE', headers })
    expect(await stream).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' }, text: '' })
    expect((await listen(headers)).status).toBe(404)
  })
})

/** Opens a stream and closes it again: the status of the answer. */
async function openAndClose(url: string): Promise<number | undefined> {
  const headers = await initialize(url)
  return new Promise((resolve) => {
    const request = httpRequest(url, { headers: { ...headers, accept: 'text/event-stream' } }, ({ statusCode }) => {
      request.destroy()
      resolve(statusCode)
    })
    request.on('error', () => {})
    request.end()
  })
}

describe('the prompt of a world', () => {
  it('is its instructions, or those of one tool, which a client can complete', async () => {
    const { server } = await serveWorlds()
    const client = new Client({ name: 'x', version: '1' })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.agentUrl)) as Parameters<Client['connect']>[0],
    )
    onTestFinished(() => client.close())
    const { prompts } = await client.listPrompts()
    expect(prompts).toMatchObject([{ name: 'instructions', arguments: [{ name: 'tool', required: false }] }])
    const told = async (args?: { tool: string }) => {
      const { messages } = await client.getPrompt({ name: 'instructions', ...(args && { arguments: args }) })
      return messages.map(({ content }) => (content as { text: string }).text).join()
    }
    expect(await told()).toBe(
      `Count to ten.\n\nThe tools:\n- add: Add to the count.\n\nHow things stand can be read at any time, as the resource ${STATE}.`,
    )
    expect(await told({ tool: 'add' })).toContain('"by":')
    await expect(told({ tool: 'nothing' })).rejects.toThrow(/-32602.*The tools are: add\./)
    await expect(client.getPrompt({ name: 'nothing' })).rejects.toThrow(/-32602.*There is: instructions\./)
    const complete = async (name: string, value: string, ref = { type: 'ref/prompt' as const, name: 'instructions' }) =>
      (await client.complete({ ref, argument: { name, value } })).completion.values
    expect(await complete('tool', '')).toEqual(['add'])
    expect(await complete('tool', 'ad')).toEqual(['add'])
    expect(await complete('tool', 'x')).toEqual([])
    expect(await complete('other', '')).toEqual([])
    await expect(complete('tool', '', { type: 'ref/prompt', name: 'nothing' })).rejects.toThrow(/-32602/)
  })

  it('never completes the name of a session', async () => {
    const { server } = await serveWorlds()
    const client = new ModernSdkClient({ name: 'x', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    onTestFinished(() => client.close())
    await client.connect(new ModernHttpTransport(new URL(server.agentUrl)))
    await client.callTool({ name: 'create_tally', arguments: {} })
    const ref = { type: 'ref/resource' as const, uri: 'episodic://session/{tally_id}/state' }
    const { completion } = await client.complete({ ref, argument: { name: 'tally_id', value: 'mcp_' } })
    expect(completion.values).toEqual([])
    expect(
      (
        await client.complete({
          ref: { type: 'ref/prompt', name: 'instructions' },
          argument: { name: 'tool', value: 'd' },
        })
      ).completion.values,
    ).toEqual(['destroy_tally'])
  })
})
