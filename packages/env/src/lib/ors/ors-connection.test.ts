import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHost } from '@episodic/mcp-server'
import type { Task } from '@episodic/protocol'
import { serveOrs } from '@episodic/trainer-endpoints/ors'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connect } from '../connect.ts'
import { rest, walk } from '../fixtures/walk.fixture.ts'

const KEY = 'the-control-token-of-this-test'

/** A task of the walk, of a place that is three steps away. */
const TASK: Task = {
  id: 'a-task',
  environment: { name: walk.name, version: walk.version },
  tools: ['move', 'break'],
  prompt: 'Walk to 2.',
  hints: [],
  params: { size: 2 },
  seed: 'a',
  difficulty: 0,
  limits: {},
  split: 'test',
  tags: [],
  metadata: {},
}

/** A connection to a server of the package for trainers. */
async function connectToWalk(rewards: 'steps' | 'return' = 'steps') {
  const host = createHost({ environments: [walk, rest] })
  onTestFinished(() => host[Symbol.asyncDispose]())
  const server = await serveOrs(host, { tasks: [TASK], rewards, auth: { controlToken: KEY } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const connection = await connect({ url: `ors:${server.origin}`, token: KEY })
  onTestFinished(() => connection.close())
  return { host, origin: server.origin, connection }
}

const move = (by: number) => ({ tool: 'move', arguments: { by } })

describe("connect('ors:…')", () => {
  it('lists environments as ones that an external server keeps', async () => {
    const { connection } = await connectToWalk()
    expect(connection.environments).toMatchObject([
      {
        name: 'walk',
        terms: ['reward'],
        forkable: false,
        paramsSchema: { properties: { split: { enum: ['test'], default: 'test' }, index: { default: 0 } } },
        tools: [{ name: 'move', description: 'Move along the line.' }, { name: 'break' }],
      },
      { name: 'rest', paramsSchema: { properties: { split: { enum: [] } } } },
    ])
  })

  it('plays a task to its end, one episode after another', async () => {
    const { host, connection } = await connectToWalk()
    await using environment = connection.environment()
    for (let episode = 0; episode < 2; episode++) {
      const { observation, info } = await environment.reset()
      expect(observation.text).toBe('Walk to 2.\nYou stand at 0.')
      expect(info).toMatchObject({ id: null, capability: null, params: { split: 'test', index: 0 } })
      let last = await environment.step(move(3))
      expect(last).toMatchObject({ reward: { terms: { reward: last.reward.total } }, info: { stateHash: null } })
      for (let step = 0; step < 40 && !last.terminated; step++) last = await environment.step(move(1))
      expect(last.end).toEqual({ kind: 'terminated', reason: 'finished' })
      expect(last.reward.total).toBeGreaterThan(1)
      await expect(environment.step(move(1))).rejects.toMatchObject({ code: 'not-playing' })
    }
    await environment.close()
    expect((await host.list({ limit: 1 })).total).toBe(0)
  })

  it('plays a row of its own, and keeps the limits of a task', async () => {
    const { connection } = await connectToWalk()
    await using environment = connection.environment('walk')
    const limits = { steps: 2 }
    await environment.reset({ params: { task: { params: { size: 1_000 }, seed: 'far' } }, limits })
    expect((await environment.step(move(1))).truncated).toBe(false)
    expect((await environment.step(move(1))).end).toEqual({ kind: 'truncated', reason: 'step-limit' })
  })

  it('reports an unknown tool as refused, and wrong arguments with their reward', async () => {
    const { connection } = await connectToWalk()
    await using environment = connection.environment()
    await environment.reset()
    const unknown = await environment.step({ tool: 'fly', arguments: {} })
    expect(unknown).toMatchObject({ info: { refused: 'tool' }, reward: { total: 0 } })
    // A server of this workspace counts wrong arguments as a step, with its reward.
    expect((await environment.step(move(9))).reward.total).toBeLessThan(0)
  })

  it('rejects a call that failed, and plays no further step', async () => {
    const { connection } = await connectToWalk()
    await using environment = connection.environment()
    await environment.reset()
    await expect(environment.step({ tool: 'break', arguments: {} })).rejects.toMatchObject({ code: 'rules-failed' })
    await expect(environment.step(move(1))).rejects.toMatchObject({ code: 'not-playing' })
    expect((await environment.reset()).observation.text).toContain('You stand at 0.')
  })

  it('promises no snapshots, forks, events and watchers', async () => {
    const { connection } = await connectToWalk()
    await using environment = connection.environment()
    await environment.reset()
    await expect(environment.snapshot()).rejects.toMatchObject({ code: 'not-forkable' })
    await expect(environment.fork()).rejects.toMatchObject({ code: 'not-forkable' })
    await expect(environment.publish({ type: 'noise' })).rejects.toMatchObject({ code: 'option-invalid' })
    expect(() => connection.watched()).toThrow(/cannot be watched/)
  })

  it('leaves no session behind if it is closed while an episode opens', async () => {
    const { host, connection } = await connectToWalk()
    const reset = connection.environment().reset()
    await connection.close()
    await expect(reset).rejects.toMatchObject({ code: 'connection-failed' })
    expect((await host.list({ limit: 1 })).total).toBe(0)
  })

  it('lists the splits of its tasks', async () => {
    const { connection } = await connectToWalk()
    expect(await connection.splits?.('walk')).toEqual([{ name: 'test', type: 'test', tasks: 1 }])
    expect(connection.guarantees).toMatchObject({ system: 'ors', replay: false, seed: 'ignored' })
  })

  it.each([
    ['ors:nowhere', 'target-invalid'],
    ['ors:ftp://127.0.0.1', 'target-invalid'],
    ['ors:http://127.0.0.1:1', 'connection-failed'],
  ])('rejects %s', async (target, code) => {
    await expect(connect(target)).rejects.toMatchObject({ code })
  })

  it('rejects a wrong token, unknown parameters and an unknown task', async () => {
    const { origin, connection } = await connectToWalk()
    await expect(connect(`ors:${origin}`)).rejects.toMatchObject({ code: 'connection-failed' })
    const environment = connection.environment()
    await expect(environment.reset({ params: { size: 2 } })).rejects.toMatchObject({ code: 'option-invalid' })
    await expect(environment.reset({ params: { index: 1 } })).rejects.toMatchObject({ code: 'connection-failed' })
    await expect(connection.environment('rest').reset()).rejects.toMatchObject({ code: 'option-invalid' })
  })
})

/** A server whose calls are answered by a function, for what a good server does not do. */
async function connectToCalls(answer: (body: { task_id?: string }, response: ServerResponse) => void) {
  const routes: Readonly<Record<string, unknown>> = {
    '/list_environments': ['odd'],
    '/odd/splits': [{ name: 'train', type: 'train' }],
    '/odd/tools': { tools: [{ name: 'go', description: 'Go.', input_schema: null }] },
    '/odd/prompt': [{ type: 'text', text: 'Go.', detail: null }],
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const path = request.url ?? ''
    if (path === '/create_session') response.end('event: task_id\ndata: s\n\nevent: end\ndata: \n\n')
    else if (path === '/odd/call') answer(JSON.parse(Buffer.concat(chunks).toString()), response)
    else response.end(JSON.stringify(routes[path] ?? {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const connection = await connect(`ors:http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => connection.close())
  const environment = connection.environment()
  await environment.reset()
  return environment
}

const PLAYED = '{"ok":true,"output":{"blocks":[{"type":"text","text":"Went."}],"metadata":null,"reward":null}}'

describe("a call of connect('ors:…')", () => {
  const go = { tool: 'go', arguments: {} }

  it('is resumed by its id if its stream is cut, and has no reward where the server gives none', async () => {
    const ids: (string | undefined)[] = []
    const environment = await connectToCalls(({ task_id }, response) => {
      ids.push(task_id)
      if (ids.length < 3) response.write('event: task_id\ndata: t1\n\n: waiting\n\n', () => response.destroy())
      else
        response.end(
          `event: task_id\ndata: t1\n\nevent: chunk\ndata: ${PLAYED.slice(0, 9)}\n\nevent: end\ndata: ${PLAYED.slice(9)}\n\n`,
        )
    })
    expect(await environment.step(go)).toMatchObject({
      observation: { text: 'Went.' },
      reward: { total: 0, terms: {} },
      end: null,
    })
    expect(ids).toEqual([undefined, 't1', 't1'])
  })

  it('is not sent again if it is cut before its id, since it may have been played', async () => {
    let calls = 0
    const environment = await connectToCalls((_, response) => {
      calls += 1
      response.destroy()
    })
    await expect(environment.step(go)).rejects.toMatchObject({ code: 'outcome-unknown' })
    expect(calls).toBe(1)
  })

  it.each([
    ['what is no answer', 'event: end\ndata: {"ok":true}\n\n', 'reply-malformed'],
    ['what is no JSON', 'event: end\ndata: {\n\n', 'reply-malformed'],
    [
      'the end of the episode',
      'event: end\ndata: {"ok":false,"error":"over","reason":"episode_finished"}\n\n',
      'not-playing',
    ],
  ])('rejects %s', async (_, text, code) => {
    const environment = await connectToCalls((_, response) => void response.end(`event: task_id\ndata: t\n\n${text}`))
    await expect(environment.step(go)).rejects.toMatchObject({ code })
  })
})
