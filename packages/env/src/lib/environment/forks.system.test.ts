import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, inProcess } from '@episodic/mcp-server'
import { type Action, type Channel, METHODS, type Step, seedFor } from '@episodic/protocol'
import { openSqliteStore } from '@episodic/state/sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { EnvError } from '../env-error.ts'
import { createWalkHost, ENDPOINTS, type TestEndpoint } from '../fixtures/endpoints.fixture.ts'
import { move, rest, walk } from '../fixtures/walk.fixture.ts'
import type { Connection } from './connection.ts'
import type { Environment, Fork } from './environment.ts'
import { withLimits } from './with-limits.ts'
import { withShaping } from './with-shaping.ts'
import { withWeights } from './with-weights.ts'

const anyEpisode = fc.record({
  seed: fc.string({ minLength: 1, maxLength: 9 }),
  size: fc.integer({ min: 2, max: 12 }),
  moves: fc.array(fc.integer({ min: -4, max: 4 }).map(move), { minLength: 1, maxLength: 15 }),
  at: fc.nat(99),
})

/** Plays until the actions or the episode are over. */
async function play(environment: Environment, actions: readonly Action[]): Promise<Step[]> {
  const steps: Step[] = []
  for (const action of actions) {
    const step = await environment.step(action)
    steps.push(step)
    if (step.end) break
  }
  return steps
}

/** Every endpoint, and in process once more with a store on disk. */
const SHARED_ENDPOINTS: typeof ENDPOINTS = {
  ...ENDPOINTS,
  async 'in process, on SQLite'() {
    const folder = mkdtempSync(join(tmpdir(), 'forks-'))
    const store = await openSqliteStore(join(folder, 'sessions.db'))
    const host = createHost({ environments: [walk, rest], store })
    return {
      target: inProcess(host),
      async [Symbol.asyncDispose]() {
        await host[Symbol.asyncDispose]()
        await store[Symbol.asyncDispose]()
        rmSync(folder, { recursive: true })
      },
    }
  },
}

describe.each(Object.keys(SHARED_ENDPOINTS))('forks: %s', (name) => {
  let endpoint: TestEndpoint
  let connection: Connection
  beforeAll(async () => {
    endpoint = await (SHARED_ENDPOINTS[name] as () => Promise<TestEndpoint>)()
    connection = await connect(endpoint.target)
  })
  afterAll(async () => {
    await connection.close()
    await endpoint[Symbol.asyncDispose]()
  })

  it('go on as their parent did, from any step, and so does what is restored', async () => {
    await fc.assert(
      fc.asyncProperty(anyEpisode, async ({ seed, size, moves, at }) => {
        await using parent = connection.environment()
        await parent.reset({ seed, params: { size } })
        const played = await play(parent, moves)
        const over = played.at(-1)?.end ? 1 : 0
        const place = at % (played.length - over + 1)
        const forks = await parent.fork({ at: place, count: 2 })
        const snapshot = await parent.snapshot({ at: place })
        const restored = connection.environment()
        const { observation, info } = await restored.restore(snapshot)
        const actions = moves.slice(place, played.length)
        for (const fork of forks) {
          expect(fork.start).toEqual({
            observation,
            info: { ...info, id: fork.start.info.id, capability: fork.start.info.capability },
          })
          expect(await play(fork, actions)).toEqual(played.slice(place))
        }
        expect(await play(restored, actions)).toEqual(played.slice(place))
        for (const each of [...forks, restored]) await each.close()
      }),
      { numRuns: 12 },
    )
  })

  it('are environments of their own: closed, reset and forked apart', async () => {
    await using parent = connection.environment()
    await parent.reset({ seed: 'a', params: { size: 500 } })
    await parent.step(move(1))
    const [one, other] = (await parent.fork({ count: 2 })) as [Fork, Fork]
    await one.close()
    await expect(one.step(move(1))).rejects.toMatchObject({ code: 'not-playing' })
    expect((await other.step(move(1))).info.seq).toBe(2)
    await other.reset({ seed: 'b' })
    expect((await other.step(move(1))).info.seq).toBe(1)
    expect((await parent.step(move(1))).info.seq).toBe(2)
    const [grandchild] = (await parent.fork()) as [Fork]
    await parent.close()
    expect((await grandchild.step(move(1))).info.seq).toBe(3)
    await Promise.all([other.close(), grandchild.close()])
  })

  it('are reseeded if a seed is given', async () => {
    await using parent = connection.environment()
    await parent.reset({ seed: 'a', params: { size: 1_000 } })
    const forks = await parent.fork({ count: 3, seed: 'fresh' })
    expect(forks.map(({ start }) => start.info.seed)).toEqual([0, 1, 2].map((i) => seedFor('fresh', 'fork', i)))
    const moves = Array.from({ length: 20 }, () => move(1))
    const plays = await Promise.all(forks.map((fork) => play(fork, moves)))
    expect(new Set(plays.map((steps) => JSON.stringify(steps))).size).toBeGreaterThan(1)
    await Promise.all(forks.map((fork) => fork.close()))
  })
})

describe('Environment.fork', () => {
  const onWalk = async (run: (environment: Environment) => Promise<void>) => {
    await using host = createWalkHost()
    await using connection = await connect(inProcess(host))
    await using environment = connection.environment()
    await run(environment)
  }

  it('needs an episode: one that is over will do, before its end', () =>
    onWalk(async (environment) => {
      const refusal = { code: 'not-playing' }
      for (const ask of [() => environment.fork(), () => environment.snapshot()])
        await expect(ask()).rejects.toMatchObject(refusal)
      await environment.reset({ limits: { steps: 2 }, params: { size: 1_000 } })
      await play(environment, [move(0), move(0)])
      await expect(environment.fork()).rejects.toMatchObject({ code: 'episode-ended' })
      const [fork] = (await environment.fork({ at: 1 })) as [Fork]
      expect(await fork.step(move(0))).toMatchObject({ end: { reason: 'step-limit' }, info: { seq: 2 } })
      await environment.close()
      await expect(environment.fork({ at: 1 })).rejects.toMatchObject(refusal)
    }))

  it('rejects another environment, and a step that the server does not keep', () =>
    onWalk(async (environment) => {
      await environment.reset()
      const snapshot = await environment.snapshot()
      const other = { ...snapshot, environment: { name: 'rest', version: '1.0.0' } }
      await expect(environment.restore(other)).rejects.toMatchObject({ code: 'option-invalid' })
      await expect(environment.fork({ at: 7 })).rejects.toMatchObject({ code: 'invalid-params' })
      await expect(environment.fork({ count: 1_001 })).rejects.toMatchObject({ code: 'invalid-params' })
      expect((await environment.step(move(0))).info.seq).toBe(1)
    }))

  it('makes no second set where the reply is lost, nor does restore', async () => {
    await using host = createWalkHost()
    const channel = inProcess(host)
    const lost: string[] = []
    const lossy: Channel = {
      ...channel,
      async request(method, params, options) {
        const reply = await channel.request(method, params, options)
        if (lost[0] !== method) return reply
        lost.shift()
        throw new EnvError('connection-failed', 'Lost on the way back.')
      },
    }
    await using connection = await connect(lossy, { retry: { attempts: 4, pause: async () => {} } })
    await using environment = connection.environment()
    await environment.reset()
    lost.push(METHODS.fork, METHODS.fork)
    const forks = await environment.fork({ count: 5 })
    expect(lost).toEqual([])
    expect(forks).toHaveLength(5)
    expect((await host.list({ limit: 10 })).total).toBe(6)
    const snapshot = await environment.snapshot()
    lost.push(METHODS.restore)
    await environment.restore(snapshot)
    expect((await host.list({ limit: 10 })).total).toBe(6)
  })
})

describe('wrappers of forks', () => {
  it('shape from where they were forked, and weigh as their parent does', async () => {
    await using host = createWalkHost()
    await using connection = await connect(inProcess(host))
    await fc.assert(
      fc.asyncProperty(anyEpisode, fc.boolean(), async ({ seed, size, moves, at }, shapedFirst) => {
        const weights = { thrift: 2, refused: 3 }
        const inner = connection.environment()
        await using parent = shapedFirst
          ? withWeights(withShaping(inner, { discount: 0.9 }), weights)
          : withShaping(withWeights(inner, weights), { discount: 0.9 })
        await parent.reset({ seed, params: { size } })
        const played = await play(parent, moves)
        const place = at % (played.length - (played.at(-1)?.end ? 1 : 0) + 1)
        await using fork = ((await parent.fork({ at: place })) as [Fork])[0]
        const rewards = (steps: readonly Step[]) => steps.map(({ reward }) => reward)
        expect(rewards(await play(fork, moves.slice(place, played.length)))).toEqual(rewards(played.slice(place)))
        const snapshot = await parent.snapshot({ at: place })
        await parent.restore(snapshot)
        expect(rewards(await play(parent, moves.slice(place, played.length)))).toEqual(rewards(played.slice(place)))
      }),
      { numRuns: 25 },
    )
  })

  it('hold their own limits over a snapshot’s', async () => {
    await using host = createWalkHost()
    await using connection = await connect(inProcess(host))
    await using environment = withLimits(connection.environment(), { steps: 7, seconds: 5 })
    await environment.reset()
    const snapshot = await environment.snapshot()
    const loose = { ...snapshot, limits: { steps: 40, seconds: null, bytes: 2_000 } }
    expect((await environment.restore(loose)).info.limits).toEqual({ steps: 7, seconds: 5, bytes: 2_000 })
    const [fork] = (await environment.fork()) as [Fork]
    expect((await fork.reset()).info.limits.steps).toBe(7)
  })
})
