import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHost } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import type { JsonObject } from '@episodic/protocol'
import { openEnvRoutes } from '@episodic/trainer-endpoints/openenv'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connect } from '../connect.ts'
import { runEpisode } from '../environment/run-episode.ts'
import { observed, serveOpenEnv } from '../fixtures/openenv-server.fixture.ts'
import { walk } from '../fixtures/walk.fixture.ts'
import { scriptedPolicy } from '../policy/scripted-policy.ts'

const TOKEN = 'the-control-token-of-this-test'

const MOVE: JsonObject = {
  title: 'Move',
  description: 'Moves along the line.',
  type: 'object',
  properties: { metadata: { type: 'object' }, by: { type: 'integer', title: 'By' } },
  required: ['by'],
  additionalProperties: false,
}

const line = (fault: object | string | null = null) => ({
  action: MOVE,
  begin() {
    let at = 0
    return {
      answer({ type, data }: { readonly type: string; readonly data: JsonObject }) {
        if (type === 'reset') return observed({ text: `Seed ${data.seed}.`, size: data.size ?? null }, 0)
        if (typeof data.by !== 'number')
          return { type: 'error', data: { message: 'Invalid message', code: 'VALIDATION_ERROR', errors: ['by'] } }
        if (data.by === 13) return fault
        at += data.by
        return observed({ at }, at >= 3 ? 1 : null, at >= 3)
      },
    }
  },
})

const move = (by: number) => ({ tool: 'step', arguments: { by } })

async function playLine(fault?: object | string | null) {
  const connection = await connect(`openenv:${(await serveOpenEnv(line(fault))).url}`)
  onTestFinished(() => connection.close())
  return connection.environment()
}

describe("connect('openenv:…')", () => {
  it('gives an environment without tools one tool, whose arguments are its action, and its answer an observation', async () => {
    const observation: JsonObject = { type: 'object', properties: { at: { type: 'integer' } } }
    await using connection = await connect(`openenv:${(await serveOpenEnv({ ...line(), observation })).url}/`)
    expect(connection.guarantees).toEqual({
      system: 'openenv',
      replay: false,
      delivery: 'at-most-once',
      seed: 'passed-on',
    })
    const { properties, ...schema } = MOVE
    expect(connection.environments).toMatchObject([
      {
        name: 'line',
        version: '2.0.0',
        terms: ['reward'],
        forkable: false,
        tools: [
          {
            name: 'step',
            description: 'Moves along the line.',
            inputSchema: { ...schema, properties: { by: (properties as JsonObject).by } },
            outputSchema: observation,
          },
        ],
      },
    ])
    expect(connection.environments[0]?.tools[0]?.inputSchema.properties).not.toHaveProperty('metadata')
  })

  it('plays one episode after the other, and adds no reward to a step that has none', async () => {
    const environment = await playLine()
    for (let episode = 0; episode < 2; episode++) {
      const { observation } = await environment.reset({ params: { size: 4 }, seed: '7' })
      const structured = { text: 'Seed 7.', size: 4 }
      expect(observation).toEqual({ text: JSON.stringify(structured), structured })
      expect(await environment.step(move(1))).toMatchObject({
        observation: { text: '{"at":1}', structured: { at: 1 } },
        reward: { terms: {}, total: 0 },
        end: null,
        info: { seq: 1, refused: null, stateHash: null },
      })
      expect(await environment.step(move(2))).toMatchObject({
        reward: { terms: { reward: 1 }, total: 1 },
        end: { kind: 'terminated', reason: 'done' },
      })
      await expect(environment.step(move(1))).rejects.toMatchObject({ code: 'not-playing' })
    }
  })

  it('sends a seed that is no number as a number that depends on it alone', async () => {
    const environment = await playLine()
    const seen = async (seed: string) => (await environment.reset({ seed })).observation.text
    const drawn = await seen('a')
    expect(drawn).toMatch(/^Seed \d{1,10}\.$/)
    expect(await seen('a')).toBe(drawn)
    expect(await seen('b')).not.toBe(drawn)
    expect(await seen('4294967296')).not.toBe('Seed 4294967296.')
  })

  it('counts an action that does not fit its schema, and an unknown tool, as refused', async () => {
    const environment = await playLine()
    await environment.reset()
    expect(await environment.step({ tool: 'step', arguments: { by: 'far' } })).toMatchObject({
      observation: { text: 'Invalid message: ["by"]' },
      info: { seq: 1, refused: 'arguments' },
      reward: { terms: {} },
    })
    expect((await environment.step({ tool: 'fly', arguments: {} })).info).toMatchObject({ seq: 2, refused: 'tool' })
    expect((await environment.step(move(3))).terminated).toBe(true)
  })

  it.each([
    ['a session that is dropped', null, 'outcome-unknown'],
    [
      'an environment that fails',
      { type: 'error', data: { message: 'Broken.', code: 'EXECUTION_ERROR' } },
      'rules-failed',
    ],
    ['what is no JSON', '{', 'reply-malformed'],
    ['a reward that is no number', observed({}, 'high' as never), 'reply-malformed'],
    [
      'a tool that does not answer in time',
      observed({ tool_name: 'step', result: null, error: { error_type: 'timeout', message: 'Late.' } }),
      'outcome-unknown',
    ],
  ])('fails the episode for %s, and gives it no reward', async (_, fault, code) => {
    const environment = await playLine(fault)
    const episode = await runEpisode({
      createEnvironment: () => environment,
      policy: scriptedPolicy([move(1), move(13), move(2)]),
    })
    expect(episode).toMatchObject({ kind: 'failed', cause: { name: 'EnvError', code } })
    expect(episode.steps).toHaveLength(1)
  })

  it.each([
    [{ success: true, end: null }, true],
    [{ success: true, end: 'yes' }, undefined],
    [{ success: true }, undefined],
  ])('takes success beside an end alone: %j', async (metadata, success) => {
    const environment = await playLine(observed({}, 0, false, metadata))
    await environment.reset()
    expect((await environment.step(move(13))).info.success).toBe(success)
  })

  it('plays no step in a session that was dropped, and resets to a new one', async () => {
    const environment = await playLine(null)
    await environment.reset()
    await expect(environment.step(move(13))).rejects.toMatchObject({ code: 'outcome-unknown' })
    await expect(environment.step(move(1))).rejects.toMatchObject({ code: 'not-playing' })
    await environment.reset()
    expect((await environment.step(move(1))).observation.structured).toEqual({ at: 1 })
  })

  it('waits for a place while the server is full with its own episodes', async () => {
    const { url, sessions } = await serveOpenEnv({ ...line(), room: 2 })
    await using connection = await connect(`openenv:${url}`)
    const play = () =>
      runEpisode({ createEnvironment: () => connection.environment(), policy: scriptedPolicy([move(1), move(2)]) })
    const episodes = await Promise.all(Array.from({ length: 7 }, play))
    expect(episodes.map(({ kind }) => kind)).toEqual(Array.from({ length: 7 }, () => 'finished'))
    expect(sessions.size).toBe(0)
  })

  it('rejects a reset while others fill the server', async () => {
    const { url } = await serveOpenEnv({ ...line(), room: 1 })
    await using others = await connect(`openenv:${url}`)
    await others.environment().reset()
    await using connection = await connect(`openenv:${url}`)
    const resets = await Promise.allSettled([connection.environment().reset(), connection.environment().reset()])
    expect(resets).toMatchObject(resets.map(() => ({ status: 'rejected', reason: { code: 'connection-failed' } })))
  })

  it('leaves no session behind if it is closed while an episode opens', async () => {
    const held = Promise.withResolvers<void>()
    const { url, sessions } = await serveOpenEnv({ ...line(), held: held.promise })
    const connection = await connect(`openenv:${url}`)
    const reset = connection.environment().reset()
    await connection.close()
    held.resolve()
    await expect(reset).rejects.toMatchObject({ code: 'connection-failed' })
    expect(sessions.size).toBe(0)
  })

  it.each([
    ['openenv:nowhere', 'target-invalid'],
    ['openenv:ftp://127.0.0.1', 'target-invalid'],
    ['opnenv:http://127.0.0.1', 'target-invalid'],
    ['openenv:http://127.0.0.1:1', 'connection-failed'],
  ])('rejects %s', async (target, code) => {
    await expect(connect(target)).rejects.toMatchObject({ code })
  })

  it.each([404, 200])('rejects a server of something else, which answers %d', async (status) => {
    const server = createServer((_, response) => response.writeHead(status).end('Hello.')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    await expect(connect(`openenv:http://127.0.0.1:${port}`)).rejects.toMatchObject({ code: 'not-an-environment' })
  })
})

describe("connect('openenv:…') to an environment with tools", () => {
  async function connectToWalk(token: string | undefined = TOKEN) {
    const host = createHost({ environments: [walk] })
    onTestFinished(() => host[Symbol.asyncDispose]())
    const server = await serveHttp(host, { auth: { controlToken: TOKEN }, extraRoutes: openEnvRoutes(host) })
    onTestFinished(() => server[Symbol.asyncDispose]())
    const connection = await connect({ url: `openenv:http://127.0.0.1:${server.port}/openenv/walk`, token })
    onTestFinished(() => connection.close())
    return { host, connection }
  }
  const walkBy = (by: number) => ({ tool: 'move', arguments: { by } })

  it('has its tools, and plays it to an end that the server names', async () => {
    const { host, connection } = await connectToWalk()
    expect(connection.environments[0]?.tools.map(({ name }) => name)).toEqual(['move', 'break'])
    await using environment = connection.environment()
    const { observation } = await environment.reset({ params: { size: 2 }, seed: '1' })
    expect(observation.text).toBe('You stand at 0.')
    let last = await environment.step(walkBy(1))
    expect(last).toMatchObject({ reward: { terms: { reward: last.reward.total } } })
    for (let step = 0; step < 40 && !last.end; step++) last = await environment.step(walkBy(1))
    expect(last.terminated).toBe(true)
    await environment.reset({ params: { size: 1_000, limits: { steps: 1 } } })
    expect((await environment.step(walkBy(1))).end).toEqual({ kind: 'truncated', reason: 'step-limit' })
    await environment.close()
    expect((await host.list({ limit: 1 })).total).toBe(0)
  })

  it('reports what a tool refuses', async () => {
    const { connection } = await connectToWalk()
    await using environment = connection.environment()
    await environment.reset()
    expect((await environment.step({ tool: 'fly', arguments: {} })).info.refused).toBe('tool')
    expect((await environment.step({ tool: 'move', arguments: {} })).info.refused).toBe('arguments')
  })

  it('rejects a wrong token', async () => {
    await expect(connectToWalk('wrong')).rejects.toMatchObject({ code: 'connection-failed' })
  })
})
