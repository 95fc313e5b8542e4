import { inProcess } from '@episodic/mcp-server'
import { type Action, type Step, WireError } from '@episodic/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { createWalkHost, ENDPOINTS, type TestEndpoint } from '../fixtures/endpoints.fixture.ts'
import { move } from '../fixtures/walk.fixture.ts'
import type { Playable } from '../session/call-options.ts'
import type { Connection } from './connection.ts'
import type { Environment } from './environment.ts'

const anyPlay = fc.record({
  params: fc.record({ size: fc.integer({ min: 2, max: 12 }) }),
  seed: fc.string({ minLength: 1, maxLength: 20 }),
  limits: fc.record({ steps: fc.integer({ min: 1, max: 12 }) }),
  actions: fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: -4, max: 4 }).map(move) },
      fc.constant({ tool: 'fly', arguments: {} }),
    ),
    { minLength: 1, maxLength: 15 },
  ),
})

/** Registers the contract of the walk environment, for one endpoint. */
function describeEnvironment(name: string, openEndpoint: () => Promise<TestEndpoint>): void {
  describe(`Environment contract: ${name}`, () => {
    let endpoint: TestEndpoint
    let connection: Connection
    beforeAll(async () => {
      endpoint = await openEndpoint()
      connection = await connect(endpoint.target)
    })
    afterAll(async () => {
      await connection.close()
      await endpoint[Symbol.asyncDispose]()
    })

    it('describes the environment', () => {
      const { info } = connection.environment('walk')
      expect(info).toMatchObject({ name: 'walk', version: '1.2.3', terms: ['arrived', 'thrift', 'refused'] })
      expect(info.potential).toBe(true)
      expect(info.tools.map((tool) => tool.name)).toEqual(['move', 'break'])
    })

    it('plays the same steps over every endpoint', async () => {
      await using host = createWalkHost()
      await using reference = await connect(inProcess(host))
      await fc.assert(
        fc.asyncProperty(anyPlay, async ({ actions, ...task }) => {
          expect(await play(connection.environment(), task, actions)).toEqual(
            await play(reference.environment(), task, actions),
          )
        }),
        { numRuns: 40 },
      )
    })

    it('starts with the requested parameters and seed', async () => {
      await using environment = connection.environment()
      const { observation, info } = await environment.reset({ params: { size: 5 }, seed: 'a', limits: { steps: 7 } })
      expect(observation).toEqual({ text: 'You stand at 0.', structured: { at: 0, slips: 0 } })
      expect(info).toMatchObject({ params: { size: 5 }, seed: 'a', limits: { steps: 7 } })
      expect(info.capability).toMatch(/^cap_/)
    })

    it('plays the seed of the reset before the seed of the task', async () => {
      await using environment = connection.environment()
      expect((await environment.reset({ seed: 'a' }, { seed: 'b' })).info.seed).toBe('b')
    })

    it('fills in parameters and draws a seed where none are named', async () => {
      await using environment = connection.environment()
      const first = await environment.reset()
      const second = await environment.reset()
      expect(first.info.params).toEqual({ size: 10 })
      expect(second.info.seed).not.toBe(first.info.seed)
    })

    it('counts a refused step and says why it was refused', async () => {
      await using environment = connection.environment()
      await environment.reset({ seed: 'a' })
      const steps = [
        await environment.step(move(-1)),
        await environment.step(move(9)),
        await environment.step({ tool: 'fly', arguments: {} }),
      ]
      expect(steps.map(({ info }) => info.refused)).toEqual(['rules', 'arguments', 'tool'])
      expect(steps.map(({ info }) => info.seq)).toEqual([1, 2, 3])
      expect(steps.map(({ reward }) => reward.terms.refused)).toEqual([-0.5, -0.5, -0.5])
    })

    it('is truncated at its step limit, and keeps its potential', async () => {
      await using environment = connection.environment()
      await environment.reset({ seed: 'a', limits: { steps: 1 } })
      const step = await environment.step(move(0))
      expect(step.end).toEqual({ kind: 'truncated', reason: 'step-limit' })
      expect(step.info.potential).toBeGreaterThan(0)
    })

    it('does not step before reset, after the end or after close', async () => {
      await using environment = connection.environment()
      await expect(environment.step(move(1))).rejects.toMatchObject({ code: 'not-playing' })
      await environment.reset({ limits: { steps: 1 } })
      await environment.step(move(0))
      await expect(environment.step(move(1))).rejects.toMatchObject({ code: 'not-playing' })
      await environment.reset()
      await environment.close()
      await expect(environment.step(move(1))).rejects.toMatchObject({ code: 'not-playing' })
    })

    it('closes twice, and plays again after it', async () => {
      await using environment = connection.environment()
      await environment.reset()
      await environment.close()
      await environment.close()
      await environment.reset()
      expect((await environment.step(move(0))).info.seq).toBe(1)
    })

    it('ends the episode before when it is reset', async () => {
      const environment = connection.environment()
      const opened: string[] = []
      for (let i = 0; i < 2; i++) opened.push((await environment.reset()).info.id as string)
      expect(new Set(opened).size).toBe(2)
      await environment.close()
    })

    it('rejects what the server refuses, and can be reset after it', async () => {
      await using environment = connection.environment()
      await expect(environment.reset({ params: { size: 1 } })).rejects.toSatisfy((error) =>
        WireError.is(error, 'invalid-params'),
      )
      await expect(environment.reset({ environment: { name: 'walk', version: '9.0.0' } })).rejects.toSatisfy((error) =>
        WireError.is(error, 'unknown-environment'),
      )
      await expect(environment.reset({ environment: { name: 'rest', version: '1.0.0' } })).rejects.toMatchObject({
        code: 'option-invalid',
      })
      await expect(environment.step(move(1))).rejects.toMatchObject({ code: 'not-playing' })
      await environment.reset()
    })

    it('rejects where the world fails, and never answers with a reward', async () => {
      await using environment = connection.environment()
      await environment.reset()
      await expect(environment.step({ tool: 'break', arguments: {} })).rejects.toSatisfy((error) =>
        WireError.is(error, 'environment-failed'),
      )
      expect((await environment.step(move(0))).info.seq).toBe(1)
    })

    it('rejects with the reason of the signal', async () => {
      await using environment = connection.environment()
      const signal = AbortSignal.abort(new Error('enough'))
      await expect(environment.reset({}, { signal })).rejects.toThrow('enough')
      await environment.reset()
      await expect(environment.step(move(0), { signal })).rejects.toThrow('enough')
      expect((await environment.step(move(0))).info.seq).toBe(1)
    })

    it('shares nothing with another environment of the connection', async () => {
      const environments = Array.from({ length: 16 }, () => connection.environment())
      const alone = await play(connection.environment(), { seed: 'a' }, [move(1), move(2), move(-1)])
      const together = await Promise.all(
        environments.map((environment) => play(environment, { seed: 'a' }, [move(1), move(2), move(-1)])),
      )
      for (const steps of together) expect(steps).toEqual(alone)
    })
  })
}

for (const [name, openEndpoint] of Object.entries(ENDPOINTS)) describeEnvironment(name, openEndpoint)

/** Plays actions until the episode ends, and gives what does not depend on the session. */
async function play(environment: Environment, task: Playable, actions: readonly Action[]): Promise<Step[]> {
  await using playing = environment
  await playing.reset(task)
  const steps: Step[] = []
  for (const action of actions) {
    const step = await playing.step(action)
    steps.push(step)
    if (step.end) break
  }
  return steps
}
