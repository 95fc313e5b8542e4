import { createHost, defineEnvironment, type HostOptions } from '@episodic/mcp-server'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { numberGuessing } from '../fixtures/number-guessing.fixture.ts'
import { tools } from '../fixtures/tricky.fixture.ts'
import { guessingTask, orsClient } from './ors-client.fixture.ts'
import { type OrsOptions, serveOrs } from './serve-ors.ts'

const KEY = 'the-control-token-of-the-operator'
const ANNA = 'the-control-token-of-anna'
const AGENT = 'a-token-of-the-agent-endpoint'

/** A server of two worlds and the tasks of one, for the length of the test. */
async function serve(options: OrsOptions = {}, hostOptions: Partial<HostOptions> = {}) {
  const host = createHost({ environments: [numberGuessing, tools], ...hostOptions })
  onTestFinished(() => host[Symbol.asyncDispose]())
  const server = await serveOrs(host, {
    tasks: [...[10, 11, 12].map((index) => guessingTask(index)), guessingTask(20, 'test')],
    auth: { controlToken: KEY, controlTokens: { [ANNA]: 'anna' }, agentTokens: { [AGENT]: 'ben' } },
    ...options,
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return { host, server, client: orsClient(server.origin, KEY), anna: orsClient(server.origin, ANNA) }
}

const guess = (value: number) => ['guess', { value }] as const
const train = (index: number) => ({ split: 'train', index })

describe('serveOrs: lists', () => {
  it('lists environments, splits and tasks, by name and for the first environment without one', async () => {
    const { client } = await serve()
    expect((await client.ask('GET', '/list_environments')).body).toEqual(['number-guessing', 'tools'])
    for (const path of ['', '/number-guessing']) {
      expect((await client.ask('GET', `${path}/splits`)).body).toEqual([
        { name: 'train', type: 'train' },
        { name: 'test', type: 'test' },
      ])
      expect((await client.ask('POST', `${path}/num_tasks`, { split: 'train' })).body).toEqual({ num_tasks: 3 })
      const { body: all } = await client.ask('POST', `${path}/tasks`, { split: 'train' })
      expect(all.env_name).toBe('number-guessing')
      expect(all.tasks.map(({ id }: { id: string }) => id)).toEqual(['train-10', 'train-11', 'train-12'])
      expect((await client.ask('POST', `${path}/task`, train(1))).body.task).toEqual(all.tasks[1])
      expect((await client.ask('POST', `${path}/task`, train(-1))).body.task).toEqual(all.tasks[2])
      const range = async (bounds: object) =>
        (await client.ask('POST', `${path}/task_range`, { split: 'train', ...bounds })).body.tasks
      expect(await range({})).toEqual(all.tasks)
      expect(await range({ start: 1, stop: 2 })).toEqual([all.tasks[1]])
      expect(await range({ start: -2 })).toEqual(all.tasks.slice(1))
      expect(await range({ stop: null })).toEqual(all.tasks)
    }
  })
})

describe('serveOrs: episodes', () => {
  it('counts wrong arguments as a refused step, and an unknown tool as an error of the client', async () => {
    const { client } = await serve()
    const session = await client.open(train(0))
    const wrong = (await client.call(session, 'guess', { value: 'ten' })).answer
    expect(wrong).toMatchObject({
      ok: true,
      output: { reward: -0.01, finished: false, metadata: { refused: 'arguments' } },
    })
    expect((await client.call(session, 'nope', {})).answer).toMatchObject({ ok: false, reason: 'not_found' })
    expect((await client.call(session, ...guess(10))).answer?.output.metadata.seq).toBe(2)
    expect((await client.call(session, ...guess(10))).answer).toMatchObject({ ok: false, reason: 'episode_finished' })
    expect((await client.call(session, 'nope', {})).answer).toMatchObject({ ok: false, reason: 'not_found' })
  })

  it('ends the stream of a failed call with an error, and with no reward', async () => {
    const { client } = await serve()
    const session = await client.open({ env_name: 'tools', task_spec: {} })
    const { answer, error } = await client.call(session, 'break', {})
    expect(answer).toBeNull()
    expect(error).toContain('the reason of a failure')
    expect((await client.call(session, 'call', {})).answer?.output.metadata.seq).toBe(1)
  })
})

describe('serveOrs: resumed calls', () => {
  it('answers a resumed call from the stored step, however often and however late', async () => {
    const { client } = await serve()
    const session = await client.open({ env_name: 'tools', task_spec: {} })
    const first = await client.call(session, 'call', {})
    expect((await client.call(session, 'call', {}, first.taskId)).answer).toEqual(first.answer)
    const second = await client.call(session, 'call', {})
    const third = await client.call(session, 'call', {})
    for (const { taskId, answer } of [first, second, third])
      expect((await client.call(session, 'call', {}, taskId)).answer).toEqual(answer)
    expect((await client.call(session, 'call', {})).answer?.output.metadata.seq).toBe(4)
  })

  it('answers it after a restart too, with the same return', async () => {
    const store = createMemoryStore()
    const before = await serve({ rewards: 'return' }, { store })
    const session = await before.client.open({ env_name: 'tools', task_spec: { params: { steps: 2 } } })
    await before.client.call(session, 'call', {})
    const last = await before.client.call(session, 'call', {})
    await before.server[Symbol.asyncDispose]()
    const { client } = await serve({ rewards: 'return' }, { store })
    expect((await client.call(session, 'call', {}, last.taskId)).answer).toEqual(last.answer)
    expect((await client.ask('POST', '/ping', {}, session)).status).toBe(200)
    expect((await client.ask('GET', '/prompt', undefined, session)).status).toBe(404)
  })

  it('rejects another call under the id of an earlier one', async () => {
    const { client } = await serve()
    const session = await client.open(train(0))
    const { taskId } = await client.call(session, ...guess(9))
    expect((await client.call(session, ...guess(10), taskId)).error).toBeDefined()
    expect((await client.call(session, ...guess(10))).answer?.output.finished).toBe(true)
  })
})

describe('serveOrs: clients that hang up', () => {
  /** A world whose step waits until the test lets it go on. */
  function createSlowWorld() {
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const environment = defineEnvironment({
      name: 'slow',
      version: '1.0.0',
      description: 'Waits.',
      params: z.object({}),
      state: { public: z.object({ played: z.int() }), private: z.object({}) },
      start: () => ({ public: { played: 0 }, private: {} }),
      observe: ({ played }) => `${played} played.`,
      tools: ({ tool }) => ({
        wait: tool({
          description: 'Waits.',
          input: z.object({}),
          prepared: z.object({}),
          async prepare() {
            begun.resolve()
            await goOn.promise
            return {}
          },
          play({ state, say }) {
            state.public.played += 1
            return say(`${state.public.played} waited.`)
          },
        }),
      }),
      rewards: { none: () => 0 },
    })
    return { environment, begun: begun.promise, goOn: goOn.resolve }
  }

  it('plays a call once that is repeated without an id after its client hung up', async () => {
    const { environment, begun, goOn } = createSlowWorld()
    const { client, server } = await serve({ tasks: [] }, { environments: [environment] })
    const session = await client.open({ task_spec: {} })
    const hangingUp = new AbortController()
    const first = fetch(`${server.origin}/call`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'x-session-id': session },
      body: JSON.stringify({ name: 'wait', input: {} }),
      signal: hangingUp.signal,
    })
    await begun
    const { body } = await first
    hangingUp.abort()
    await body?.cancel().catch(() => {})
    // The server reads of the hang-up no later than of a request that comes after it.
    await client.ask('GET', '/health')
    goOn()
    expect((await client.call(session, 'wait', {})).answer?.output.metadata.seq).toBe(1)
    expect((await client.call(session, 'wait', {})).answer?.output.metadata.seq).toBe(2)
  })
})

describe('serveOrs: sessions', () => {
  it('opens an id once, and closes it for good', async () => {
    const { client, host } = await serve()
    const session = await client.open(train(0))
    const statusOf = async (path: string, body: object = {}) =>
      (await client.ask('POST', path, body as never, session)).status
    expect(await statusOf('/create', train(1))).toBe(400)
    expect(await statusOf('/create', train(0))).toBe(200)
    await client.call(session, ...guess(50))
    expect(await statusOf('/create', train(0))).toBe(400)
    expect(await statusOf('/ping')).toBe(200)
    expect(await statusOf('/delete')).toBe(200)
    expect((await host.list({ limit: 10 })).total).toBe(0)
    for (const path of ['/delete', '/delete_session']) expect(await statusOf(path)).toBe(200)
    for (const path of ['/ping', '/create']) expect(await statusOf(path, train(0))).toBe(410)
    expect((await client.call(session, ...guess(1))).status).toBe(410)
  })

  it.each([
    ['a row and a place', { task_spec: {}, split: 'train', index: 0 }, 422],
    ['neither', {}, 422],
    ['a split without an index', { split: 'train' }, 422],
    ['a key that it does not know', { split: 'train', index: 0, seed: 1 }, 422],
    ['a row with a misspelt key', { task_spec: { parms: {} } }, 422],
    ['a row with wrong parameters', { task_spec: { params: { low: 'one' } } }, 422],
    ['a row with wrong limits', { task_spec: { limits: { steps: -1 } } }, 422],
    ['a row of another environment', { env_name: 'tools', task_spec: { environment: 'number-guessing' } }, 400],
    ['an unknown environment', { env_name: 'nowhere', task_spec: {} }, 404],
    ['an unknown split', { split: 'nowhere', index: 0 }, 400],
    ['an index out of range', { split: 'train', index: 3 }, 400],
    ['a toolset', { split: 'train', index: 0, toolset_name: 'codex' }, 400],
  ])('rejects to open %s', async (_, creation, status) => {
    const { client, host } = await serve()
    const { status: answered, body } = await client.ask('POST', '/create', creation as never, 'an-id-of-a-client')
    expect({ status: answered, detail: typeof body.detail }).toEqual({ status, detail: 'string' })
    expect((await host.list({ limit: 10 })).total).toBe(0)
    expect((await client.ask('POST', '/create', train(0), 'an-id-of-a-client')).status).toBe(200)
  })
})

describe('serveOrs: who may call', () => {
  it('answers only its health without a control token; a token of an agent and a capability are none', async () => {
    const { host, server } = await serve()
    const { seats } = await host.open(null, { environment: 'tools', requestKey: 'k'.repeat(20) })
    const capability = seats.agent?.capability as string
    for (const key of [null, 'wrong', AGENT, capability]) {
      const client = orsClient(server.origin, key)
      expect((await client.ask('GET', '/health')).body).toEqual({ status: 'ok' })
      for (const [method, path] of [
        ['GET', '/list_environments'],
        ['POST', '/create_session'],
        ['POST', '/create'],
        ['POST', '/tasks'],
        ['POST', '/call'],
        ['GET', '/nowhere'],
      ] as const)
        expect((await client.ask(method, path)).status, `${method} ${path}`).toBe(401)
    }
  })

  it('knows no session of another principal, and lets two have the same id', async () => {
    const { client, anna } = await serve()
    const session = await client.open(train(0))
    expect((await anna.ask('POST', '/ping', {}, session)).status).toBe(404)
    expect((await anna.call(session, ...guess(10))).status).toBe(404)
    expect((await anna.ask('POST', '/delete', {}, session)).status).toBe(200)
    expect((await anna.ask('POST', '/create', train(1), session)).status).toBe(200)
    expect((await anna.call(session, ...guess(11))).answer?.output.finished).toBe(true)
    expect((await client.call(session, ...guess(10))).answer?.output.finished).toBe(true)
  })
})
