import { PassThrough } from 'node:stream'
import { DEFAULT_SEAT, type JsonObject, META, METHODS } from '@episodic/protocol'
import { type SessionStore, StateError } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { atCapability, atControl } from '../fixtures/addressed.fixture.ts'
import { halve } from '../fixtures/number-guessing.fixture.ts'
import {
  asking,
  call,
  controlHeaders,
  createTestHost,
  INITIALIZE,
  initialize,
  openOverHttp,
  type RawAnswer,
  rpc,
  send,
  serve,
} from '../fixtures/testbed.fixture.ts'
import { TRADE_SECRET } from '../fixtures/workshop.fixture.ts'
import { createMetrics } from '../host/operate/metrics.ts'
import { serveStdio } from '../stdio/serve-stdio.ts'
import { createDispatcher } from './dispatcher.ts'
import { inProcess } from './in-process.ts'
import { readMessage } from './message.ts'
import { STATE_URI } from './state-resource.ts'

/** Words of the trainer plane. None of them has anything to do with the worlds that are played here. */
const TRAINER_WORDS = [
  'dev.episodic',
  'environment/',
  '_meta',
  'reward',
  'jackpot',
  'toll',
  'thrift',
  'potential',
  'shaping',
  'terminated',
  'truncated',
  'step-limit',
  'seq',
  'epoch',
  'revision',
  'seed',
  'ctl_',
  'cap_',
  'target',
  'control',
]

/** Whatever an agent receives, headers and all. The one secret that is its own is left out. */
function received(answers: readonly RawAnswer[], own: string): string {
  return answers
    .map(({ status, headers, text }) => `${status} ${JSON.stringify(headers)} ${text}`)
    .join('\n')
    .replaceAll(own, '')
    .replaceAll('"cache-control":"no-cache"', '')
}

/** Returns everything that the catcher of an error can read in it, except its stack, which names only our files. */
function readError(error: Error & { readonly code?: string; readonly details?: JsonObject }): string {
  return `${error.code} ${error.message} ${JSON.stringify(error.details)} ${error.cause}`
}

describe('the agent endpoint', () => {
  it('lets no byte of reward, end or control pass, in whole episodes and at their edges (invariant 3)', async () => {
    const { host } = createTestHost()
    const server = await serve(host)
    const transport = await initialize(server.agentUrl)
    const opened = await openOverHttp(server, { seed: 'a-seed-like-no-other', limits: { steps: 12 } })
    const capability = opened.seats[DEFAULT_SEAT]?.capability as string
    const streams: Promise<RawAnswer>[] = []
    for (const [url, headers, own] of [
      [server.agentUrl, transport, transport['mcp-session-id']],
      [server.sessionUrl(capability), {}, capability],
    ] as const) {
      const answers: RawAnswer[] = []
      streams.push(send(url, { method: 'GET', headers }))
      const ask = async (method: string, params: object = {}) => {
        const answer = await rpc(url, method, params, headers)
        answers.push(answer)
        return answer.json
      }
      const guess = (value: unknown) => ask('tools/call', { name: 'guess', arguments: { value } })
      for (const method of ['initialize', 'tools/list', 'ping', 'resources/list', 'prompts/list', 'logging/setLevel'])
        await ask(method, method === 'initialize' ? INITIALIZE : {})
      for (const method of Object.values(METHODS)) await ask(method, { session: opened.session })
      for (const method of ['resources/read', 'resources/subscribe']) await ask(method, { uri: STATE_URI })
      for (const args of [{}, { tool: 'guess' }, { tool: 'peek' }])
        await ask('prompts/get', { name: 'instructions', arguments: args })
      await ask('tools/call', { name: 'peek', arguments: {} })
      await guess('fifty')
      await guess(1_000)
      const meta = { [META.session]: opened.session, [META.seq]: 3, [META.epoch]: 0 }
      await ask('tools/call', { name: 'guess', arguments: { value: 1 }, _meta: meta })
      const guesses = await halve(2, 100, async (value) => {
        const { result } = await guess(value)
        expect(result?.structuredContent).toMatchObject({ value })
        return (result?.structuredContent as { hint?: string } | undefined)?.hint
      })
      expect(guesses).toBeLessThanOrEqual(7)
      await guess(1)
      await ask('resources/read', { uri: STATE_URI })
      answers.push(await send(url, { headers, body: '{' }))
      answers.push(await send(url, { method: 'DELETE', headers }))
      await guess(1)

      const text = received(answers, own)
      for (const word of [...TRAINER_WORDS, opened.seed, opened.id, opened.session])
        expect(text.toLowerCase()).not.toContain(word.toLowerCase())
    }
    // The same words are all there at the other endpoint, so the search above would have found them.
    const answer = await rpc(server.trainerUrl, METHODS.watch, { session: opened.session }, controlHeaders(server))
    for (const word of ['jackpot', 'toll', 'potential', 'terminated', 'seq', 'revision'])
      expect(answer.text).toContain(word)
    await server.drain()
    const notifications = received(await Promise.all(streams), capability)
    expect(notifications).toContain('resources/updated')
    for (const word of [...TRAINER_WORDS, opened.seed, opened.id, opened.session])
      expect(notifications.toLowerCase()).not.toContain(word.toLowerCase())
  })

  it.each(['a pipe', 'this process'])('lets none pass in %s either, over all that can be asked', async (endpoint) => {
    const { host } = createTestHost()
    const seed = 'a-seed-like-no-other'
    const opened = await host.open(null, asking({ seed, params: { low: 1, high: 20 } }))
    const capability = opened.seats[DEFAULT_SEAT]?.capability as string
    const requests: { method: string; params: JsonObject }[] = [
      ...['initialize', 'tools/list', 'ping', 'resources/list', 'prompts/list', 'logging/setLevel', 'no/method'].map(
        (method) => ({ method, params: method === 'initialize' ? INITIALIZE : {} }),
      ),
      ...Object.values(METHODS).map((method) => ({ method, params: { session: opened.session } })),
      ...['resources/subscribe', 'resources/read'].map((method) => ({ method, params: { uri: STATE_URI } })),
      { method: 'prompts/get', params: { name: 'instructions' } },
      ...['fifty', 1_000, 1, 1].map((value) => ({
        method: 'tools/call',
        params: { name: 'guess', arguments: { value } },
      })),
      ...Array.from({ length: 10 }, (_, i) => ({
        method: 'tools/call',
        params: {
          name: 'guess',
          arguments: { value: 11 + i },
          _meta: { [META.session]: opened.session, [META.seq]: 4 + i },
        },
      })),
      { method: 'tools/call', params: { name: 'peek', arguments: {} } },
      { method: 'tools/call', params: { name: 7 } },
    ]
    const answers: string[] = []
    if (endpoint === 'a pipe') {
      const [input, output] = [new PassThrough(), new PassThrough()]
      const served = serveStdio(host, { input, output })
      for (const [id, request] of requests.entries())
        input.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...request })}\n`)
      input.end('{\n[]\n')
      await served
      answers.push(String(output.read()))
    } else {
      const world = { by: 'capability', token: capability } as const
      const channel = inProcess(host, { endpoint: 'agent', principal: null, address: world })
      for (const { method, params } of requests)
        answers.push(await channel.request(method, params).then((result) => JSON.stringify(result), readError))
    }
    const said = Object.values(METHODS).reduce((text, method) => text.replaceAll(method, ''), answers.join('\n'))
    expect(said).toMatch(/The episode is over/s)
    for (const word of [...TRAINER_WORDS, seed, opened.id, opened.session, capability])
      expect(said.toLowerCase()).not.toContain(word.toLowerCase())
  })

  it('reports every end of a session in the same words', async () => {
    const { host } = createTestHost()
    const dispatcher = createDispatcher(host)
    const texts = new Set<string>()
    for (const request of [
      asking({ params: { low: 5, high: 5 } }),
      asking({ params: { low: 1, high: 9, maxGuesses: 1 } }),
      asking({ params: { low: 1, high: 9 }, limits: { steps: 1 } }),
    ]) {
      const { seats } = await host.open(null, request)
      const capability = seats[DEFAULT_SEAT]?.capability as string
      await atCapability(host, capability).step(call('guess', { value: 5 }))
      const world = { by: 'capability', token: capability } as const
      const params = { name: 'guess', arguments: { value: 5 } }
      const message = readMessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      await dispatcher.dispatch({ endpoint: 'agent', principal: null, address: world }, message)
      texts.add((await dispatcher.dispatch({ endpoint: 'agent', principal: null, address: world }, message)).text ?? '')
    }
    expect([...texts]).toEqual([expect.stringContaining('The episode is over, so this call was not played.')])
  })

  it('reports a fault of the server by its reference alone', async () => {
    const { host } = createTestHost()
    const errors: { reference: string; cause: unknown }[] = []
    const resolve = () => Promise.reject(new TypeError(TRADE_SECRET))
    const dispatcher = createDispatcher(Object.assign(Object.create(host), { resolve }), {
      onError: (error) => errors.push(error),
    })
    const world = { by: 'capability', token: 'any' } as const
    const params = { name: 'guess', arguments: {} }
    const message = readMessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const { text, refusal } = await dispatcher.dispatch({ endpoint: 'agent', principal: null, address: world }, message)
    expect(refusal).toBe('internal')
    expect(text).not.toContain(TRADE_SECRET)
    expect(errors).toMatchObject([{ cause: { message: TRADE_SECRET } }])
    expect(text).toContain(errors[0]?.reference)
  })

  it('leaves out what no output declares, counts it, and reports it once', async () => {
    const metrics = createMetrics()
    const { host, faults } = createTestHost({ metrics })
    const { session } = await host.open(null, asking({ environment: 'workshop' }))
    for (let i = 0; i < 3; i++) {
      const { step } = await atControl(host, session).step(call('gossip'))
      expect(step.observation.structured).toEqual({ rumour: 'something' })
    }
    await atControl(host, session).step(call('take'))
    expect(faults).toMatchObject([
      {
        reference: null,
        environment: 'workshop',
        cause: { message: expect.stringContaining('Tool gossip of workshop says "secret"') },
      },
    ])
    const counted = metrics.render({ sessions: 1, calls: 0 })
    expect(counted).toContain('episodic_undeclared_total{environment="workshop",tool="gossip"} 3\n')
    expect(counted).not.toContain('tool="take"')
    expect(counted).not.toMatch(/episodic_faults_total\{/)
  })

  it('returns text and structured content in every successful answer', async () => {
    const { host } = createTestHost()
    const server = await serve(host)
    const url = `http://127.0.0.1:${server.port}/mcp/e/workshop`
    const headers = await initialize(url)
    for (const name of ['take', 'wait', 'gossip']) {
      const params = { name, arguments: name === 'wait' ? { milliseconds: 1 } : {} }
      const { result } = (await rpc(url, 'tools/call', params, headers)).json
      expect(result).toEqual({
        content: [{ type: 'text', text: expect.stringMatching(/./) }],
        structuredContent: expect.any(Object),
      })
      expect(JSON.stringify(result)).not.toContain(TRADE_SECRET)
    }
  })

  it('says nothing about the store when it fails', async () => {
    const store = createMemoryStore()
    const failure = new StateError('store-unavailable', 'The store /srv/secret/sessions.db cannot be used (disk full).')
    const failing: SessionStore = new Proxy(store, {
      get: (_, name: keyof SessionStore) =>
        name === 'commit' ? () => Promise.reject(failure) : store[name].bind(store),
    })
    const { host } = createTestHost({ store: failing })
    const errors: unknown[] = []
    const server = await serve(host, { onError: ({ cause }) => errors.push(cause) })
    const id = await initialize(server.agentUrl)
    const answer = await rpc(server.agentUrl, 'tools/call', { name: 'guess', arguments: { value: 1 } }, id)
    expect([answer.status, answer.json.error?.data]).toEqual([503, { code: 'store-unavailable' }])
    expect(JSON.stringify(answer)).not.toMatch(/srv|disk/)
    expect(errors).toEqual([failure])
  })
})
