import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveHttp } from '@episodic/mcp-server/http'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { connect } from '../connect.ts'
import { runEpisode } from '../environment/run-episode.ts'
import { createWalkHost, externalCommand, readProcessId, withProcessId } from '../fixtures/endpoints.fixture.ts'
import { move } from '../fixtures/walk.fixture.ts'
import { definePolicy } from '../policy/policy.ts'
import { scriptedPolicy } from '../policy/scripted-policy.ts'
import type { Target } from '../transport/target.ts'
import { defineExternalEnvironment } from './external-environment.ts'

const Graph = z.object({
  entities: z.array(z.object({ name: z.string(), entityType: z.string(), observations: z.array(z.string()) })),
  relations: z.array(z.object({ from: z.string(), to: z.string(), relationType: z.string() })),
})

const folders: string[] = []

/** Write down who knows whom, in a memory that is empty but for one person. The task ends when it is said. */
const acquaintances = defineExternalEnvironment({
  name: 'acquaintances',
  version: '1.0.0',
  description: 'Write down who knows whom.',
  params: z.object({
    who: z.string().default('Ada'),
    whom: z.string().default('Grace'),
    pidFile: z.string().optional(),
  }),
  async target({ params, defer }) {
    const folder = await mkdtemp(join(tmpdir(), 'acquaintances-'))
    folders.push(folder)
    defer(() => rm(folder, { recursive: true }))
    const command = externalCommand('memory', { MEMORY_FILE_PATH: join(folder, 'graph.jsonl') })
    return params.pidFile ? withProcessId(command, params.pidFile) : command
  },
  tools: ['create_entities', 'create_relations', 'add_observations'],
  limits: { steps: 10 },
  parallelToolCalls: false,
  async prepare(server, { params }) {
    const entities = [{ name: params.who, entityType: 'person', observations: [] }]
    await server.call('create_entities', { entities })
  },
  read: async (server) => Graph.parse((await server.call('read_graph')).structured),
  observe: ({ entities }, { who, whom }) => `Known so far: ${entities.length}. Write down that ${who} knows ${whom}.`,
  end: ({ after, params }) =>
    after.relations.some(({ from, to }) => from === params.who && to === params.whom) ? 'written' : null,
  rewards: {
    written: ({ end }) => (end?.kind === 'terminated' ? 1 : 0),
    people: ({ before, after }) => (after.entities.length - before.entities.length) / 10,
  },
})

const createGrace = {
  tool: 'create_entities',
  arguments: { entities: [{ name: 'Grace', entityType: 'person', observations: [] }] },
}
const relate = {
  tool: 'create_relations',
  arguments: { relations: [{ from: 'Ada', to: 'Grace', relationType: 'knows' }] },
}

describe('an external environment on a process of its own', () => {
  it('says what the world is, from the tools that the server lists', async () => {
    await using connection = await connect(acquaintances)
    await using environment = connection.environment()
    const { info } = environment
    expect(info).toMatchObject({ name: 'acquaintances', terms: ['written', 'people'], parallelToolCalls: false })
    expect(info.tools.map(({ name }) => name)).toEqual(['create_entities', 'create_relations', 'add_observations'])
    expect(info.tools[0]).toMatchObject({
      description: expect.stringContaining('knowledge graph'),
      inputSchema: { type: 'object', required: ['entities'] },
    })
    expect(info.paramsSchema).toMatchObject({ properties: { who: { default: 'Ada' } } })
    expect(info.limits).toEqual({ steps: 10, seconds: null, bytes: 67_108_864 })
  })

  it('is set up, played and scored', async () => {
    await using connection = await connect(acquaintances)
    await using environment = connection.environment()
    const { observation, info } = await environment.reset({ seed: 'a' })
    expect(observation).toEqual({ text: 'Known so far: 1. Write down that Ada knows Grace.', structured: null })
    expect(info).toMatchObject({ id: null, capability: null, params: { who: 'Ada', whom: 'Grace' }, seed: 'a' })

    const first = await environment.step(createGrace)
    expect(first).toMatchObject({
      reward: { total: 0.1, terms: { written: 0, people: 0.1 }, shaping: 0 },
      end: null,
      info: { seq: 1, refused: null, potential: null, stateHash: null, replayed: false },
    })
    expect(first.observation.structured).toEqual({ entities: createGrace.arguments.entities })
    expect(first.observation.text).toContain('Grace')

    const second = await environment.step(relate)
    expect(second).toMatchObject({ reward: { total: 1 }, end: { kind: 'terminated', reason: 'written' } })
    await expect(environment.step(relate)).rejects.toMatchObject({ code: 'not-playing' })
  })

  it('keeps episodes apart, one after the other and side by side', async () => {
    await using connection = await connect(acquaintances)
    const play = () =>
      runEpisode({
        createEnvironment: () => connection.environment(),
        policy: scriptedPolicy([createGrace, createGrace, relate]),
      })
    const episodes = [await play(), ...(await Promise.all([play(), play(), play()]))]
    for (const { kind, steps } of episodes) {
      expect(kind).toBe('finished')
      // A graph that another episode had written to would not grow by the first step.
      expect(steps.map(({ reward }) => reward.terms.people)).toEqual([0.1, 0, 0])
    }
  })

  it('hands what its target made on to the functions of that episode, also of two with one seed at once', async () => {
    const ownFolder = defineExternalEnvironment({
      name: 'own-folder',
      version: '1.0.0',
      description: 'Write to the folder of the episode.',
      params: z.object({}),
      async target({ defer }) {
        const folder = await mkdtemp(join(tmpdir(), 'own-folder-'))
        defer(() => rm(folder, { recursive: true }))
        const server = externalCommand('memory', { MEMORY_FILE_PATH: join(folder, 'graph.jsonl') })
        return { server, context: { folder } }
      },
      async prepare(server, { context: { folder } }) {
        const entities = [{ name: folder, entityType: 'folder', observations: [] }]
        await server.call('create_entities', { entities })
      },
      async read(server, { context }) {
        const { entities } = Graph.parse((await server.call('read_graph')).structured)
        return { owner: entities[0]?.name, folder: context.folder }
      },
      observe: (_, __, { folder }) => folder,
      end: ({ after, context }) => (after.owner === context.folder ? 'own' : null),
      rewards: { own: ({ after, context }) => (after.folder === context.folder ? 1 : 0) },
    })
    await using connection = await connect(ownFolder)
    const [one, other] = [connection.environment(), connection.environment()]
    const resets = await Promise.all([one, other].map((environment) => environment.reset({ seed: 'same' })))
    expect(new Set(resets.map(({ observation }) => observation.text)).size).toBe(2)
    for (const environment of [other, one])
      expect(await environment.step(createGrace)).toMatchObject({ reward: { total: 1 }, end: { reason: 'own' } })
    await Promise.all([one, other].map((environment) => environment[Symbol.asyncDispose]()))
  })

  it('undoes what was made for an episode when the episode is over', async () => {
    folders.length = 0
    await using connection = await connect(acquaintances)
    const environment = connection.environment()
    await environment.reset()
    await environment.reset()
    const made = [...folders]
    expect(made.map(existsSync)).toEqual([false, false, true])
    await environment.close()
    expect(made.map(existsSync)).toEqual([false, false, false])
  })

  it('takes a refusal for an answered step', async () => {
    await using connection = await connect(acquaintances)
    await using environment = connection.environment()
    await environment.reset({ limits: { steps: 3 } })
    const unknown = { observations: [{ entityName: 'Nobody', contents: ['tall'] }] }
    const steps = [
      await environment.step({ tool: 'add_observations', arguments: unknown }),
      await environment.step({ tool: 'create_entities', arguments: { entities: 'Grace' } }),
      await environment.step({ tool: 'delete_entities', arguments: { entityNames: ['Ada'] } }),
    ]
    expect(steps.map(({ info }) => info.seq)).toEqual([1, 2, 3])
    expect(steps[0]).toMatchObject({
      info: { refused: 'rules' },
      observation: { text: expect.stringContaining('Nobody not found') },
    })
    expect(steps[1]?.info.refused).toMatch(/^(rules|arguments)$/)
    // The server has that tool, and the player does not.
    expect(steps[2]).toMatchObject({ info: { refused: 'tool' }, reward: { terms: { people: 0 } } })
    expect(steps[2]?.end).toEqual({ kind: 'truncated', reason: 'step-limit' })
  })

  it('fails, and is not scored, where the server is killed in the middle of an episode', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pid-'))
    try {
      await using connection = await connect(acquaintances)
      const pidFile = join(folder, 'pid')
      const episode = await runEpisode({
        createEnvironment: () => connection.environment(),
        policy: definePolicy({
          name: 'killer',
          start:
            () =>
            async (_, { last }) => {
              if (last) process.kill(await readProcessId(pidFile), 'SIGKILL')
              return createGrace
            },
        }),
        task: { params: { pidFile } },
      })
      expect(episode).toMatchObject({ kind: 'failed', cause: { name: 'EnvError', code: 'outcome-unknown' } })
      expect(episode.steps).toHaveLength(1)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('makes no call after a lost reply until it is reset', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pid-'))
    try {
      await using connection = await connect(acquaintances)
      await using environment = connection.environment()
      const pidFile = join(folder, 'pid')
      await environment.reset({ params: { pidFile } })
      process.kill(await readProcessId(pidFile), 'SIGKILL')
      await expect(environment.step(createGrace)).rejects.toMatchObject({ code: 'outcome-unknown' })
      await expect(environment.step(createGrace)).rejects.toMatchObject({ code: 'not-playing' })
      await environment.reset()
      expect((await environment.step(createGrace)).reward.terms.people).toBe(0.1)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('stops what still plays when the connection closes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pid-'))
    try {
      const pidFile = join(folder, 'pid')
      const connection = await connect(acquaintances)
      const environment = connection.environment()
      await environment.reset({ params: { pidFile } })
      const pid = await readProcessId(pidFile)
      await connection.close()
      await connection.close()
      expect(() => process.kill(pid, 0)).toThrow('ESRCH')
      await expect(environment.step(createGrace)).rejects.toMatchObject({ code: 'not-playing' })
      await expect(environment.reset()).rejects.toMatchObject({ code: 'connection-failed' })
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('an external environment that nothing is added to', () => {
  const arithmetic = (change: { tools?: string[]; target?: Target } = {}) =>
    defineExternalEnvironment({
      name: 'arithmetic',
      version: '1.0.0',
      description: 'Add up.',
      params: z.object({ sum: z.number().default(7) }),
      target: externalCommand('everything'),
      observe: (_, { sum }) => `Make ${sum}.`,
      end: ({ observation, params }) => (observation.text.endsWith(` is ${params.sum}.`) ? 'made' : null),
      rewards: { made: ({ end }) => (end ? 1 : 0) },
      ...change,
    })

  it('has all the tools of its server', async () => {
    await using connection = await connect(arithmetic())
    await using environment = connection.environment()
    expect(environment.info.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'get-sum']))
  })

  it('is scored by what its server says', async () => {
    await using connection = await connect(arithmetic())
    await using environment = connection.environment()
    await environment.reset({ params: { sum: 5 } })
    const echo = await environment.step({ tool: 'echo', arguments: { message: 'Hello' } })
    expect(echo).toMatchObject({ observation: { text: 'Echo: Hello', structured: null }, reward: { total: 0 } })
    const sum = await environment.step({ tool: 'get-sum', arguments: { a: 2, b: 3 } })
    expect(sum).toMatchObject({ reward: { total: 1 }, end: { kind: 'terminated', reason: 'made' } })
  })

  it('refuses a tool that its server does not have', async () => {
    await expect(connect(arithmetic({ tools: ['get-difference'] }))).rejects.toMatchObject({
      code: 'option-invalid',
      message: expect.stringContaining('get-sum'),
    })
  })

  it('refuses tasks for another world, another version and other parameters', async () => {
    await using connection = await connect(arithmetic())
    await using environment = connection.environment()
    for (const task of [
      { environment: { name: 'geometry', version: '1.0.0' } },
      { environment: { name: 'arithmetic', version: '2.0.0' } },
      { params: { sum: 'seven' } },
    ])
      await expect(environment.reset(task)).rejects.toMatchObject({ code: 'option-invalid' })
  })

  it('says that its server cannot be started', async () => {
    await expect(connect(arithmetic({ target: { command: 'no-such-command-anywhere' } }))).rejects.toMatchObject({
      code: 'connection-failed',
    })
  })
})

describe('an external environment on an MCP session of its own', () => {
  it('begins afresh in every episode', async () => {
    // A server at a URL that keeps a world for each of its sessions, and that is a plain MCP server from outside.
    await using server = await serveHttp(createWalkHost())
    const walking = defineExternalEnvironment({
      name: 'walking',
      version: '1.0.0',
      description: 'Walk.',
      params: z.object({}),
      target: server.agentUrl,
      tools: ['move'],
      observe: () => 'Walk.',
      rewards: { moved: ({ refused }) => (refused ? 0 : 1) },
    })
    await using connection = await connect(walking)
    const play = () =>
      runEpisode({
        createEnvironment: () => connection.environment(),
        policy: scriptedPolicy(Array.from({ length: 3 }, () => move(0))),
        task: { limits: { steps: 3 } },
      })
    for (const episode of [await play(), ...(await Promise.all([play(), play()]))]) {
      expect(episode).toMatchObject({ kind: 'finished', end: { reason: 'step-limit' } })
      expect(episode.steps.map(({ observation }) => observation.text)).toEqual(
        Array.from({ length: 3 }, () => 'You move.\nYou stand at 0.'),
      )
    }
  })
})
