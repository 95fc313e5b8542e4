import { fileURLToPath } from 'node:url'
import { DEFAULT_SEAT } from '@episodic/protocol'
import { createManualClock } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { atCapability, atControl } from '../fixtures/addressed.fixture.ts'
import { createMarket } from '../fixtures/market.fixture.ts'
import { MODERN_META, modernHeaders } from '../fixtures/official-clients.fixture.ts'
import {
  connectFirst,
  connectSecond,
  ENVIRONMENTS,
  type Place,
  type Reader,
  type Served,
  STATE,
  servePlainWorlds,
  serveWorlds,
  sessionUrl,
} from '../fixtures/resource-readers.fixture.ts'
import {
  asking,
  call,
  controlHeaders,
  createTestHost,
  initialize,
  openOverHttp,
  rpc,
  serve,
} from '../fixtures/testbed.fixture.ts'
import { PASSWORD } from '../fixtures/vault.fixture.ts'
import { openWebSocket } from '../fixtures/web-socket.fixture.ts'
import { nextTurn } from '../host/yield-to-event-loop.ts'
import { inProcess } from './in-process.ts'

const STDIO = fileURLToPath(new URL('../fixtures/serve-stdio.fixture.ts', import.meta.url))

const read = async ({ client }: Reader, uri: string) => {
  const { contents } = await client.readResource({ uri })
  expect(contents).toMatchObject([{ uri, mimeType: 'application/json' }])
  return JSON.parse((contents[0] as { text: string }).text)
}

/** Checks that a reader is notified of a change while it is subscribed, and no longer after it has unsubscribed. */
async function expectNotifications(reader: Reader, uri: string, naming: object = {}) {
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
  // The first notification since the unsubscription: there was none in between.
  expect(await reader.updated()).toBe(uri)
}

describe('the public state of a session', () => {
  it.each([
    ['a transport session', async ({ server }: Served): Promise<Place> => server.agentUrl],
    ['a session URL', sessionUrl],
    ['a pipe', async (): Promise<Place> => ({ command: process.execPath, args: [STDIO, 'agent', 'plain-tally'] })],
  ])('is read and subscribed to in a session-based version over %s', async (_, placeOf) => {
    const reader = await connectFirst(await placeOf(await servePlainWorlds()))
    expect((await reader.client.listResources()).resources).toMatchObject([{ uri: STATE }])
    expect((await reader.client.listResourceTemplates()).resourceTemplates).toEqual([])
    await expectNotifications(reader, STATE)
  })

  it('is read and subscribed to in the stateless version at a session URL', async () => {
    const reader = await connectSecond(await sessionUrl(await serveWorlds()))
    expect((await reader.client.listResources()).resources).toMatchObject([{ uri: STATE }])
    await expectNotifications(reader, STATE)
  })

  it.each([
    ['HTTP', async ({ server }: Served): Promise<Place> => server.agentUrl],
    ['a pipe', async (): Promise<Place> => ({ command: process.execPath, args: [STDIO, 'agent', 'tally'] })],
  ])('is named by the handle of its session over %s, in either protocol version', async (_, placeOf) => {
    for (const connect of [connectFirst, connectSecond])
      await readByHandle(await connect(await placeOf(await serveWorlds())))
  })

  async function readByHandle(reader: Reader) {
    expect((await reader.client.listResources()).resources).toEqual([])
    const { resourceTemplates } = await reader.client.listResourceTemplates()
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'episodic://session/{tally_id}/state' }])
    const { structuredContent } = await reader.call('create_tally', {})
    const { tally_id } = structuredContent as { tally_id: string }
    await expectNotifications(reader, `episodic://session/${tally_id}/state`, { tally_id })
  }

  it('is read and listened to over a WebSocket', async () => {
    const socket = await openWebSocket(await sessionUrl(await serveWorlds()))
    expect((await socket.ask('resources/read', { uri: STATE })).result).toMatchObject({ contents: [{ uri: STATE }] })
    expect((await socket.ask('resources/subscribe', { uri: STATE })).result).toEqual({})
    socket.send('tools/call', { name: 'add', arguments: { by: 4 } })
    const messages = [await socket.next(), await socket.next()]
    expect(messages).toContainEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: STATE },
    })
    expect(messages).toContainEqual(expect.objectContaining({ result: expect.anything() }))
  })

  it('is read in process', async () => {
    const { host, server } = await serveWorlds()
    const { seats } = await openOverHttp(server, { environment: 'tally' })
    const capability = seats[DEFAULT_SEAT]?.capability as string
    const channel = inProcess(host, {
      endpoint: 'agent',
      principal: null,
      address: { by: 'capability', token: capability },
    })
    const { contents } = (await channel.request('resources/read', { uri: STATE })) as { contents: [{ text: string }] }
    expect(JSON.parse(contents[0].text)).toEqual({ count: 0 })
  })

  it('is reported when an outside event has changed it', async () => {
    const { host } = createTestHost({ environments: [createMarket()] })
    const server = await serve(host)
    const { session, seats } = await host.open(null, asking({ environment: 'market' }))
    const reader = await connectSecond(server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string))
    await reader.subscribe(STATE)
    await atControl(host, session).publish({ id: 'one', type: 'order-filled', data: {} })
    await atControl(host, session).publish({ id: 'two', type: 'price-changed', data: { price: 7 } })
    expect(await reader.updated()).toBe(STATE)
    expect(await read(reader, STATE)).toMatchObject({ price: 7 })
  })

  it('is reported when another process on the same store has changed it, and keeps no session from expiring', async () => {
    const clock = createManualClock(1_700_000_000_000)
    const store = createMemoryStore()
    const options = { environments: ENVIRONMENTS, store, clock, bounds: { idleSeconds: 60 } }
    const [here, there] = [createTestHost(options).host, createTestHost(options).host]
    const { seats } = await here.open(null, asking({ environment: 'tally' }))
    const capability = seats[DEFAULT_SEAT]?.capability as string
    const look = await atCapability(here, capability).view()
    expect(look.state).toEqual({ count: 0 })
    const changed = Promise.withResolvers<void>()
    onTestFinished(look.onChange(changed.resolve))
    await atCapability(there, capability).step(call('add', { by: 2 }))
    clock.advance(1_000)
    await changed.promise
    expect((await atCapability(here, capability).view()).state).toEqual({ count: 2 })
    for (let i = 0; i < 61; i++) {
      clock.advance(1_000)
      await nextTurn()
    }
    await here.sweep()
    await expect(atCapability(here, capability).view()).rejects.toMatchObject({ code: 'session-not-found' })
  })

  it('opens the world of a plain client as its first call does, and the same one', async () => {
    const { server, host } = await servePlainWorlds()
    const headers = await initialize(server.agentUrl)
    expect((await host.list({ limit: 5 })).total).toBe(0)
    await rpc(server.agentUrl, 'resources/read', { uri: STATE }, headers)
    await rpc(server.agentUrl, 'tools/call', { name: 'add', arguments: { by: 3 } }, headers)
    const { json } = await rpc(server.agentUrl, 'resources/read', { uri: STATE }, headers)
    expect(json.result).toMatchObject({ contents: [{ text: '{"count":3}' }] })
    expect((await host.list({ limit: 5 })).total).toBe(1)
  })

  it('is not at the trainer endpoint, which returns the whole state', async () => {
    const { server } = await serveWorlds()
    for (const method of ['resources/list', 'resources/read', 'prompts/list']) {
      const { json } = await rpc(server.trainerUrl, method, { uri: STATE }, controlHeaders(server))
      expect(json.error?.code).toBe(-32601)
    }
  })

  it('rejects an unknown URI without listing the sessions that exist', async () => {
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

  it('is reported when it changes, and not when the rest of the state does', async () => {
    const socket = await openWebSocket(await sessionUrl(await serveWorlds(), 'lamp'))
    await socket.ask('resources/subscribe', { uri: STATE })
    const press = (works: boolean) => socket.ask('tools/call', { name: 'press', arguments: { works } })
    for (let i = 0; i < 3; i++) expect((await press(false)).result).toMatchObject({ structuredContent: { lit: false } })
    socket.send('tools/call', { name: 'press', arguments: { works: true } })
    const messages = [await socket.next(), await socket.next()]
    expect(messages.filter((message) => 'method' in message)).toHaveLength(1)
  })
})
