import { createHost, inProcess } from '@episodic/mcp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { ENDPOINTS, type TestEndpoint } from '../fixtures/endpoints.fixture.ts'
import { rest } from '../fixtures/walk.fixture.ts'
import type { Connection } from './connection.ts'
import type { Environment } from './environment.ts'
import { withLimits } from './with-limits.ts'
import { withShaping } from './with-shaping.ts'

const WAIT = { tool: 'wait', arguments: {} }

describe.each(Object.keys(ENDPOINTS))('publish: %s', (name) => {
  let endpoint: TestEndpoint
  let connection: Connection
  beforeAll(async () => {
    endpoint = await (ENDPOINTS[name] as () => Promise<TestEndpoint>)()
    connection = await connect(endpoint.target)
  })
  afterAll(async () => {
    await connection.close()
    await endpoint[Symbol.asyncDispose]()
  })

  it('applies an event once, and the next step reports it', async () => {
    await using environment = connection.environment('rest')
    await environment.reset({ seed: 'seed' })
    const noise = { id: 'noise-1', type: 'noise', data: { what: 'an owl' } }
    expect(await environment.publish(noise)).toEqual({ revision: 1, end: null, delivered: 'now' })
    expect(await environment.publish(noise)).toEqual({ revision: 1, end: null, delivered: 'before' })
    const step = await environment.step(WAIT)
    expect(step.observation.text).toBe('You hear an owl.\nYou wait.\nYou have waited 1 times.')
    expect(step.info.events).toMatchObject([{ ...noise, said: 'You hear an owl.', end: null }])
    expect((await environment.step(WAIT)).info).not.toHaveProperty('events')
  })

  it('draws an id if none is given', async () => {
    await using environment = connection.environment('rest')
    await environment.reset()
    const owl = { type: 'noise', data: { what: 'an owl' } }
    for (const revision of [1, 2])
      expect(await environment.publish(owl)).toEqual({ revision, end: null, delivered: 'now' })
  })

  it('may end the episode, with the next step as the last', async () => {
    await using environment = withShaping(withLimits(connection.environment('walk'), { steps: 9 }), { discount: 1 })
    await environment.reset()
    await expect(environment.publish({ type: 'dawn' })).rejects.toThrow(/walk takes no outside events/)
    await using night = connection.environment('rest')
    await night.reset()
    const end = { kind: 'terminated', reason: 'rested' }
    expect(await night.publish({ type: 'dawn' })).toMatchObject({ end })
    expect(await night.step(WAIT)).toMatchObject({ end, reward: { total: -1 }, info: { refused: 'ended', seq: 1 } })
    await expect(night.step(WAIT)).rejects.toMatchObject({ code: 'not-playing' })
    await expect(night.publish({ type: 'noise', data: { what: 'it' } })).rejects.toMatchObject({
      code: 'episode-ended',
    })
  })

  it('rejects an invalid event', async () => {
    await using environment = connection.environment('rest')
    await expect(environment.publish({ type: 'dawn' })).rejects.toMatchObject({ code: 'not-playing' })
    await environment.reset()
    await expect(environment.publish({ type: 'dusk' })).rejects.toThrow(
      /rest takes no event "dusk". It takes: noise, dawn/,
    )
    await expect(environment.publish({ type: 'noise' })).rejects.toThrow(/Wrong data for the event noise: what/)
    const stop = AbortSignal.abort(new Error('enough'))
    await expect(environment.publish({ type: 'dawn' }, { signal: stop })).rejects.toThrow()
    expect((await environment.step(WAIT)).end).toBeNull()
  })

  it('is carried on in forks', async () => {
    await using environment = connection.environment('rest')
    await environment.reset()
    await environment.publish({ id: 'noise-1', type: 'noise', data: { what: 'an owl' } })
    const forks: Environment[] = await environment.fork({ count: 2 })
    for (const each of [environment, ...forks]) {
      await using line = each
      expect((await line.step(WAIT)).info.events).toMatchObject([{ id: 'noise-1' }])
    }
  })
})

it('is skipped by next of a watched environment, and reported by the step that follows', async () => {
  await using host = createHost({ environments: [rest] })
  await using connection = await connect(inProcess(host))
  await using watched = connection.watched()
  await watched.reset()
  await watched.publish({ type: 'noise', data: { what: 'an owl' } })
  expect(await watched.next({ wait: 60 })).toBeNull()
  const taken = watched.next({ wait: 60 })
  await (await host.resolve(null, { by: 'capability', token: watched.capability as string })).step({ action: WAIT })
  expect(await taken).toEqual(WAIT)
  expect((await watched.step(WAIT)).info.events).toMatchObject([{ type: 'noise' }])
})
