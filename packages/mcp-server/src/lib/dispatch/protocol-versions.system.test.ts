import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { canonicalJson, DEFAULT_SEAT, type Json, META, METHODS, type ToolInfo } from '@episodic/protocol'
import { ENVELOPE, MODERN_VERSION } from '@episodic/protocol/internal'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineEnvironment } from '../environment/definition/define-environment.ts'
import { createMarket } from '../fixtures/market.fixture.ts'
import { halve, numberGuessing } from '../fixtures/number-guessing.fixture.ts'
import {
  MODERN_META,
  modernHeaders,
  OFFICIAL_CLIENTS,
  type OfficialClient,
} from '../fixtures/official-clients.fixture.ts'
import { plainTally, tally } from '../fixtures/tally.fixture.ts'
import {
  controlHeaders,
  createTestHost,
  freshKey,
  INITIALIZE,
  openOverHttp,
  rpc,
  send,
  serve,
  serveTestHost,
} from '../fixtures/testbed.fixture.ts'
import type { HttpOptions } from '../http/serve-http.ts'
import { serveStdio } from '../stdio/serve-stdio.ts'

const ENVIRONMENTS = [numberGuessing, tally]
const STDIO = fileURLToPath(new URL('../fixtures/serve-stdio.fixture.ts', import.meta.url))

async function serveWorlds(options: HttpOptions = {}, bounds = {}) {
  const served = await serveTestHost(options, { environments: ENVIRONMENTS, bounds })
  return { ...served, tallyUrl: `http://127.0.0.1:${served.server.port}/mcp/e/tally` }
}

/** Sends one request of the stateless version, and resolves with its answer. */
function ask(url: string, method: string, params: { name?: string; [key: string]: unknown } = {}, headers = {}) {
  const said = { ...modernHeaders(method, params.name), ...headers }
  return rpc(url, method, { ...params, _meta: { ...MODERN_META, ...(params._meta as object) } }, said)
}

const textOf = ({ content }: { content?: unknown }) => (content as [{ text: string }])[0].text

/** Counts to ten with whatever a client has to add to name its session. */
async function countToTen(client: OfficialClient, naming: Record<string, unknown>) {
  for (const by of [5, 3, 2]) {
    const { structuredContent, isError } = await client.callTool({ name: 'add', arguments: { ...naming, by } })
    expect(isError).toBeFalsy()
    if (by === 2) expect(structuredContent).toMatchObject({ count: 10, episode_over: true })
  }
  expect(textOf(await client.callTool({ name: 'add', arguments: { ...naming, by: 1 } }))).toContain('is over')
}

/** Creates a session, as the tools say to do first, and gives the argument that names it. */
async function createTally(client: OfficialClient): Promise<{ tally_id: unknown }> {
  const created = await client.callTool({ name: 'create_tally', arguments: {} })
  expect(textOf(created)).toContain('The count is 0.')
  return { tally_id: (created.structuredContent as { tally_id: string }).tally_id }
}

describe('a session URL', () => {
  it.each(Object.entries(OFFICIAL_CLIENTS))('is played by the client of %s', async (_, connect) => {
    const { server } = await serveWorlds()
    const { seats, session } = await openOverHttp(server)
    const client = await connect(server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string))
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['guess'])
    await halve(1, 100, async (value) => {
      const { structuredContent } = await client.callTool({ name: 'guess', arguments: { value } })
      return (structuredContent as { hint: string }).hint
    })
    const { json } = await rpc(server.trainerUrl, METHODS.state, { session }, controlHeaders(server))
    expect(json.result).toMatchObject({ end: { kind: 'terminated', reason: 'solved' } })
  })

  it('is played by clients of every kind in turn, each of which comes for one call', async () => {
    const { server } = await serveWorlds()
    const { seats, session } = await openOverHttp(server)
    const url = server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string)
    const kinds = Object.values(OFFICIAL_CLIENTS)
    let calls = 0
    const guesses = await halve(1, 100, async (value) => {
      const client = await (kinds[calls++ % kinds.length] as (typeof kinds)[0])(url)
      const { structuredContent } = await client.callTool({ name: 'guess', arguments: { value } })
      await client.close()
      return (structuredContent as { hint: string }).hint
    })
    const { json } = await rpc(server.trainerUrl, METHODS.watch, { session }, controlHeaders(server))
    expect(json.result?.steps).toHaveLength(guesses)
  })
})

describe('a world with a handle', () => {
  it.each(Object.entries(OFFICIAL_CLIENTS))(
    'is played by the client of %s, which names its session',
    async (_, connect) => {
      const { tallyUrl, host } = await serveWorlds()
      const client = await connect(tallyUrl)
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['create_tally', 'add', 'destroy_tally'])
      await countToTen(client, await createTally(client))
      expect((await host.list({ limit: 10 })).sessions).toMatchObject([{ steps: 3, end: { reason: 'counted' } }])
    },
  )

  it.each(Object.entries(OFFICIAL_CLIENTS))('is played over a pipe by the client of %s', async (_, connect) => {
    const client = await connect({ command: process.execPath, args: [STDIO, 'agent', 'tally'] })
    await countToTen(client, await createTally(client))
  })

  it('lists the same tools in every version and over every transport', async () => {
    const { tallyUrl } = await serveWorlds()
    const lists = new Set<string>()
    for (const connect of Object.values(OFFICIAL_CLIENTS))
      for (const place of [tallyUrl, { command: process.execPath, args: [STDIO, 'agent', 'tally'] }]) {
        const { tools } = await (await connect(place)).listTools()
        lists.add(canonicalJson(tools as unknown as Json))
      }
    expect(lists.size).toBe(1)
  })

  it.each(Object.entries(OFFICIAL_CLIENTS))(
    'shows the client of %s the first observation before a step, that the episode is over, and how to play again',
    async (_, connect) => {
      const { tallyUrl, host } = await serveWorlds()
      for (const place of [tallyUrl, { command: process.execPath, args: [STDIO, 'agent', 'tally'] }]) {
        const client = await connect(place)
        expect(client.getInstructions()).toContain('Begin with create_tally')
        for (let episode = 1; episode <= 2; episode++) {
          const created = await client.callTool({ name: 'create_tally', arguments: {} })
          expect(textOf(created)).toContain('The count is 0.')
          const { tally_id, ...opening } = created.structuredContent as Record<string, unknown>
          expect(opening).toEqual({ observation: 'The count is 0.', episode_over: false })
          if (place === tallyUrl)
            expect((await host.list({ limit: 10 })).sessions).toContainEqual(expect.objectContaining({ steps: 0 }))
          for (const by of [5, 5]) {
            const result = await client.callTool({ name: 'add', arguments: { tally_id, by } })
            expect(result.structuredContent).toMatchObject({
              // The data is in no text of its own.
              observation: textOf(result).replace(/\n\{"count":\d+\}/, ''),
              episode_over: textOf(result).includes('The episode is over.'),
            })
          }
          const after = await client.callTool({ name: 'add', arguments: { tally_id, by: 1 } })
          expect(after).toMatchObject({ isError: true })
          expect(textOf(after)).toContain('Call create_tally to play again.')
        }
      }
    },
  )

  it('has a short title, and tools with hints for clients', async () => {
    const { host } = createTestHost({ environments: [createMarket(), tally] })
    const { port } = await serve(host)
    const market = `http://127.0.0.1:${port}/mcp/e/market`
    const { json } = await rpc(`http://127.0.0.1:${port}/mcp/e/tally`, 'initialize', INITIALIZE)
    expect(json.result?.serverInfo).toMatchObject({ name: 'tally', title: 'Tally' })
    const hintsOf = async (url: string) => {
      const { tools } = await (await OFFICIAL_CLIENTS['SDK 1'](url)).listTools()
      return Object.fromEntries(
        (tools as unknown as ToolInfo[]).map(({ name, annotations: hints }) => [
          name,
          [hints?.readOnlyHint, hints?.destructiveHint, hints?.idempotentHint, hints?.openWorldHint],
        ]),
      )
    }
    expect(await hintsOf(`http://127.0.0.1:${port}/mcp/e/tally`)).toEqual({
      create_tally: [false, false, false, false],
      add: [false, false, false, false],
      destroy_tally: [false, true, true, false],
    })
    // Preparing a step reaches outside.
    expect(await hintsOf(market)).toMatchObject({ quote: [false, false, false, true] })
  })

  it('has a connection of a version before 2026-07-28 live on however long it plays', async () => {
    const { tallyUrl, clock, host } = await serveWorlds({}, { idleSeconds: 60 })
    const client = await OFFICIAL_CLIENTS['SDK 1'](tallyUrl)
    for (let i = 0; i < 3; i++) {
      clock.advance(50_000)
      await host.sweep()
      await countToTen(client, await createTally(client))
    }
    expect((await client.listTools()).tools).toHaveLength(3)
  })

  it('says for how long a session is kept, in the tools that make and end one', async () => {
    const { tallyUrl } = await serveWorlds({}, { idleSeconds: 77 })
    const { json } = await ask(tallyUrl, 'tools/list')
    const tools = json.result?.tools as { name: string; description: string; inputSchema: { required?: string[] } }[]
    expect(tools[0]?.description).toContain('77 seconds')
    expect(tools[2]?.description).toContain('77 seconds')
    expect(tools.map(({ inputSchema }) => inputSchema.required)).toEqual([undefined, ['tally_id', 'by'], ['tally_id']])
  })

  it('keeps the sessions of one client apart', async () => {
    const { tallyUrl } = await serveWorlds()
    const client = await OFFICIAL_CLIENTS['SDK 2 of 2026'](tallyUrl)
    const [left, right] = [await createTally(client), await createTally(client)]
    const add = (naming: object, by: number) => client.callTool({ name: 'add', arguments: { ...naming, by } })
    await Promise.all([add(left, 1), add(right, 2)])
    expect((await add(left, 1)).structuredContent).toMatchObject({ count: 2 })
    expect((await add(right, 1)).structuredContent).toMatchObject({ count: 3 })
  })

  it('answers a forged handle, that of another client, an ended one and an expired one alike, and says what may be wrong', async () => {
    const tokens = { [`left-${'x'.repeat(22)}`]: 'left', [`right-${'x'.repeat(22)}`]: 'right' }
    const { tallyUrl, clock, host } = await serveWorlds({ auth: { agentTokens: tokens } }, { idleSeconds: 60 })
    const as = (who: string) => ({ authorization: `Bearer ${who}-${'x'.repeat(22)}` })
    const play = (tool: string, args: object, who = 'left') =>
      ask(tallyUrl, 'tools/call', { name: tool, arguments: args }, as(who))
    const create = async () => {
      const { json } = await play('create_tally', {})
      return (json.result as { structuredContent: { tally_id: string } }).structuredContent.tally_id
    }
    const [ended, expired] = [await create(), await create()]
    await play('destroy_tally', { tally_id: ended })
    const answers = [
      await play('add', { tally_id: 'mcp_nonsense', by: 1 }),
      await play('add', { tally_id: expired, by: 1 }, 'right'),
      await play('add', { tally_id: ended, by: 1 }),
      await play('destroy_tally', { tally_id: ended }),
    ]
    clock.advance(61_000)
    await host.sweep()
    answers.push(await play('add', { tally_id: expired, by: 1 }))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    expect(answers[0]?.json.result).toMatchObject({ isError: true, resultType: 'complete' })
    expect(textOf(answers[0]?.json.result ?? {})).toMatch(/60 seconds passed.*create_tally/)
  })

  it('rejects a capability in place of a handle, so that no client ends a session that another has opened', async () => {
    const { server, tallyUrl } = await serveWorlds()
    const { seats, session } = await openOverHttp(server, { environment: 'tally' })
    const args = { tally_id: seats[DEFAULT_SEAT]?.capability as string }
    const { json } = await ask(tallyUrl, 'tools/call', { name: 'destroy_tally', arguments: args })
    expect(json.result).toMatchObject({ isError: true })
    const state = await rpc(server.trainerUrl, METHODS.state, { session }, controlHeaders(server))
    expect(state.json.result).toMatchObject({ end: null })
  })

  it('names the argument that is missing from a call', async () => {
    const { tallyUrl } = await serveWorlds()
    const errorOf = async (name: string) =>
      textOf((await ask(tallyUrl, 'tools/call', { name, arguments: { by: 1 } })).json.result ?? {})
    expect(await errorOf('add')).toMatch(/^tally_id is missing.*Call create_tally first/)
    expect(await errorOf('reset')).toContain('The tools are: create_tally, add, destroy_tally.')
  })

  it('is rejected if its names collide with those of others', () => {
    const withHandle = (handle: string, input = z.object({})) =>
      defineEnvironment({
        name: 'clash',
        version: '1.0.0',
        description: 'Clashes.',
        handle,
        params: z.object({}),
        state: { public: z.object({}), private: z.object({}) },
        start: () => ({ public: {}, private: {} }),
        observe: () => '',
        tools: ({ tool }) => ({ create_game: tool({ description: '', input, play: ({ say }) => say('') }) }),
        rewards: {},
      })
    for (const handle of ['', 'Game', 'a game', 'game-1', 'x'.repeat(65)])
      expect(() => withHandle(handle)).toThrow(expect.objectContaining({ code: 'definition-invalid' }))
    expect(() => withHandle('game')).toThrow('create_game')
    expect(() => withHandle('move', z.object({ move_id: z.string() }))).toThrow('move_id')
  })
})

describe('a world without a handle', () => {
  it.each([
    ['HTTP', async () => (await serveWorlds()).server.agentUrl],
    ['a pipe', async () => ({ command: process.execPath, args: [STDIO] })],
  ] as const)(
    'speaks the versions before 2026-07-28 over %s, which clients find out by themselves',
    async (_, placeOf) => {
      const place = await placeOf()
      const client = await OFFICIAL_CLIENTS['SDK 2 by itself'](place)
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['guess'])
      expect(client.getInstructions()).toContain('8 guesses left')
      expect(textOf(await client.callTool({ name: 'guess', arguments: { value: 1 } }))).toContain('7 guesses left')
      await expect(OFFICIAL_CLIENTS['SDK 2 of 2026'](place)).rejects.toThrow()
    },
  )

  it('says in its instructions how the very episode will begin that the first call opens', async () => {
    const { host } = createTestHost({ environments: [hiddenStart] })
    const { agentUrl } = await serve(host)
    for (let i = 0; i < 5; i++) {
      const client = await OFFICIAL_CLIENTS['SDK 1'](agentUrl)
      expect((await host.list({ limit: 10 })).total).toBe(i)
      const place = /You stand at \d+\./.exec(client.getInstructions() ?? '')?.[0]
      expect(place).toBeDefined()
      expect(textOf(await client.callTool({ name: 'look', arguments: {} }))).toContain(place)
    }
  })

  it('says how to play again, and a pipe that is initialized anew does', async () => {
    const { host } = createTestHost({ environments: [plainTally] })
    const [input, output] = [new PassThrough(), new PassThrough()]
    const served = serveStdio(host, { input, output })
    const say = (method: string, params: object) =>
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`)
    for (let episode = 1; episode <= 2; episode++) {
      say('initialize', INITIALIZE)
      for (let i = 0; i < 3; i++) say('tools/call', { name: 'add', arguments: { by: 5 } })
    }
    input.end()
    await served
    const answers = String(output.read())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).result)
    for (const episode of [answers.slice(0, 4), answers.slice(4)]) {
      expect(episode[0].instructions).toContain('The count is 0.')
      expect(episode[2].structuredContent).toMatchObject({ count: 10, episode_over: true })
      expect(textOf(episode[3])).toContain('send initialize again, to play again')
    }
  })
})

/** A world whose beginning is drawn. */
const hiddenStart = defineEnvironment({
  name: 'hidden-start',
  version: '1.0.0',
  description: 'Look where you stand.',
  handle: false,
  params: z.object({}),
  state: { public: z.object({ place: z.int() }), private: z.object({}) },
  start: ({ rng }) => ({ public: { place: rng.int(1, 1_000_000) }, private: {} }),
  observe: ({ place }) => `You stand at ${place}.`,
  tools: ({ tool }) => ({
    look: tool({ description: 'Look.', input: z.object({}), play: ({ say }) => say('You look around.') }),
  }),
  rewards: {},
})

describe('a request in the stateless version', () => {
  it('is answered as that revision asks, without a session of a transport', async () => {
    const { tallyUrl } = await serveWorlds()
    const discovered = await ask(tallyUrl, 'server/discover', {}, { 'mcp-session-id': 'mcp_mine' })
    expect(discovered.status).toBe(200)
    expect(discovered.headers).not.toHaveProperty('mcp-session-id')
    expect(discovered.json.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [MODERN_VERSION],
      capabilities: { tools: {} },
      _meta: { [ENVELOPE.server]: { name: 'tally', version: '1.0.0' } },
    })
    for (const answer of [discovered, await ask(tallyUrl, 'tools/list')])
      expect(answer.json.result).toMatchObject({ ttlMs: 300_000, cacheScope: 'private' })
    const called = await ask(tallyUrl, 'tools/call', { name: 'create_tally' })
    expect(called.json.result).toMatchObject({
      resultType: 'complete',
      _meta: { [ENVELOPE.server]: { name: 'tally', version: '1.0.0' } },
    })
  })

  it('steps at the trainer endpoint as any other does', async () => {
    const { server } = await serveWorlds()
    const token = controlHeaders(server)
    const opened = await ask(server.trainerUrl, METHODS.open, { environment: 'tally', requestKey: freshKey() }, token)
    expect(opened.json.result).toMatchObject({ resultType: 'complete' })
    const { session } = opened.json.result as { session: string }
    const meta = { [META.session]: session, [META.seq]: 0 }
    const stepped = await ask(
      server.trainerUrl,
      'tools/call',
      { name: 'add', arguments: { by: 5 }, _meta: meta },
      token,
    )
    expect(stepped.json.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { count: 5 },
      _meta: { [META.step]: { seq: 1 }, [ENVELOPE.server]: { name: 'episodic' } },
    })
    const unknown = await ask(server.trainerUrl, 'environment/nonsense', {}, token)
    expect([unknown.status, unknown.json.error?.code]).toEqual([404, -32601])
  })

  it('takes notifications without a word', async () => {
    const { tallyUrl } = await serveWorlds()
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { _meta: MODERN_META } })
    const headers = modernHeaders('notifications/cancelled')
    expect(await send(tallyUrl, { headers, body })).toMatchObject({ status: 202, text: '' })
  })

  it('is no GET and no DELETE', async () => {
    const { server } = await serveWorlds()
    for (const method of ['GET', 'DELETE']) {
      const answer = await send(server.agentUrl, { method, headers: { 'mcp-protocol-version': MODERN_VERSION } })
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } })
    }
  })

  const call = { name: 'create_tally', arguments: {} }
  const without = (key: string) => Object.fromEntries(Object.entries(MODERN_META).filter(([name]) => name !== key))
  const called = (headers: Record<string, string | null>, _meta: object = MODERN_META) => ({
    method: 'tools/call',
    params: { ...call, _meta },
    headers: { ...modernHeaders('tools/call', call.name), ...headers },
  })
  it.each([
    ['names another version in its header', called({ 'mcp-protocol-version': '2025-11-25' }), 400, -32020],
    ['has no header for its version', called({ 'mcp-protocol-version': null }), 400, -32020],
    ['has no header for its method', called({ 'mcp-method': null }), 400, -32020],
    ['names another method in its header', called({ 'mcp-method': 'tools/list' }), 400, -32020],
    ['has no header for its name', called({ 'mcp-name': null }), 400, -32020],
    ['names another tool in its header', called({ 'mcp-name': 'destroy_tally' }), 400, -32020],
    ['encodes its name badly', called({ 'mcp-name': '=?base64?%%%?=' }), 400, -32020],
    ['says so in a header alone', called({}, {}), 400, -32602],
    ['does not say what its client can do', called({}, without(ENVELOPE.capabilities)), 400, -32602],
    ['names its version by a number', called({}, { ...MODERN_META, [ENVELOPE.version]: 2026 }), 400, -32602],
    ['says half who its client is', called({}, { ...MODERN_META, [ENVELOPE.client]: { name: 'x' } }), 400, -32602],
    [
      'comes from a later version',
      called({ 'mcp-protocol-version': '2027-01-01' }, { ...MODERN_META, [ENVELOPE.version]: '2027-01-01' }),
      400,
      -32022,
    ],
    [
      'asks for what is not there',
      { method: 'ping', params: { _meta: MODERN_META }, headers: modernHeaders('ping') },
      404,
      -32601,
    ],
    [
      'initializes',
      { method: 'initialize', params: { _meta: MODERN_META }, headers: modernHeaders('initialize') },
      404,
      -32601,
    ],
    [
      'initializes by its header alone',
      { method: 'initialize', params: {}, headers: modernHeaders('initialize') },
      400,
      -32020,
    ],
  ])('that %s is refused', async (_, { method, params, headers }, status, code) => {
    const { tallyUrl, host } = await serveWorlds()
    const answer = await rpc(tallyUrl, method, params, headers)
    expect([answer.status, answer.json.error?.code, answer.json.id]).toEqual([status, code, 1])
    if (code === -32022) expect(answer.json.error?.data).toMatchObject({ supported: [MODERN_VERSION] })
    expect((await host.list({ limit: 1 })).total).toBe(0)
  })

  it('may have its name in base64', async () => {
    const { tallyUrl } = await serveWorlds()
    const name = `=?base64?${Buffer.from('create_tally').toString('base64')}?=`
    const { json } = await ask(tallyUrl, 'tools/call', { name: 'create_tally' }, { 'mcp-name': name })
    expect(json.result).toMatchObject({ structuredContent: { tally_id: expect.stringMatching(/^mcp_/) } })
  })
})
