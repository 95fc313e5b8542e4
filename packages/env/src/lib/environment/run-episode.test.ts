import { inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { createWalkHost } from '../fixtures/endpoints.fixture.ts'
import { move } from '../fixtures/walk.fixture.ts'
import { PlayerStop } from '../policy/player-stop.ts'
import { definePolicy, type PolicyContext } from '../policy/policy.ts'
import { delegate, type Environment } from './environment.ts'
import { runEpisode } from './run-episode.ts'

async function withWalk(run: (environment: Environment) => Promise<void>): Promise<void> {
  await using host = createWalkHost()
  await using connection = await connect(inProcess(host))
  await run(connection.environment())
}

const stay = definePolicy({ name: 'stay', start: () => () => move(0) })

describe('runEpisode', () => {
  it('passes the task, the tools and the policy seed to the policy, and not the seed of the environment', () =>
    withWalk(async (environment) => {
      const contexts: PolicyContext[] = []
      const policy = definePolicy({
        name: 'curious',
        start(context) {
          contexts.push(context)
          return () => move(0)
        },
      })
      const task = { prompt: 'Walk.', hints: ['Far.'], params: { size: 5 }, limits: { steps: 1 }, seed: 'world' }
      await runEpisode({ createEnvironment: () => environment, policy, task, policySeed: 'mine' })
      expect(contexts).toEqual([
        {
          task: { prompt: 'Walk.', hints: ['Far.'], params: { size: 5 } },
          tools: environment.info.tools,
          seed: 'mine',
        },
      ])
    }))

  it.each<[what: string, spoil: (environment: Environment) => Environment, steps: number]>([
    ['reset', (environment) => delegate(environment, { reset: () => Promise.reject(new Error('Broken.')) }), 0],
    ['step', (environment) => delegate(environment, { step: () => Promise.reject(new Error('Broken.')) }), 0],
    ['close', (environment) => delegate(environment, { close: () => Promise.reject(new Error('Broken.')) }), 1],
    [
      'the making of the environment',
      () => {
        throw new Error('Broken.')
      },
      0,
    ],
  ])('comes back as failed where %s fails', (_, spoil, steps) =>
    withWalk(async (environment) => {
      const episode = await runEpisode({
        createEnvironment: () => spoil(environment),
        policy: stay,
        task: { limits: { steps: 1 } },
      })
      expect(episode).toMatchObject({ kind: 'failed', cause: { message: 'Broken.' } })
      expect(episode.steps).toHaveLength(steps)
    }),
  )

  it('truncates an episode whose player gives an action that the server does not take', () =>
    withWalk(async (environment) => {
      const deep = JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`)
      const policy = definePolicy({ name: 'deep', start: () => () => ({ tool: 'move', arguments: { deep } }) })
      const episode = await runEpisode({ createEnvironment: () => environment, policy })
      expect(episode).toMatchObject({ kind: 'finished', steps: [], end: { reason: 'invalid-action' } })
    }))

  it('fails where a session cannot be closed whose player has stopped', () =>
    withWalk(async (environment) => {
      const broken = delegate(environment, { close: () => Promise.reject(new Error('Broken.')) })
      const start = () => Promise.reject(new PlayerStop('no-action', 'Nothing.'))
      const episode = await runEpisode({ createEnvironment: () => broken, policy: { name: 'lost', start } })
      expect(episode).toMatchObject({ kind: 'failed', cause: { message: 'Broken.' } })
    }))

  it('resolves with the first of two failures', () =>
    withWalk(async (environment) => {
      const broken = delegate(environment, {
        step: () => Promise.reject(new Error('First.')),
        close: () => Promise.reject(new Error('Second.')),
      })
      expect(await runEpisode({ createEnvironment: () => broken, policy: stay })).toMatchObject({
        kind: 'failed',
        cause: { message: 'First.' },
      })
    }))

  it('comes back as failed where it is aborted, with the steps that were played', () =>
    withWalk(async (environment) => {
      const abort = new AbortController()
      const policy = definePolicy({
        name: 'aborter',
        start:
          () =>
          (_, { last }) => {
            if (last?.info.seq === 3) abort.abort(new Error('Enough.'))
            return move(0)
          },
      })
      const episode = await runEpisode({ createEnvironment: () => environment, policy, signal: abort.signal })
      expect(episode).toMatchObject({ kind: 'failed', cause: { message: 'Enough.' } })
      expect(episode.steps).toHaveLength(3)
    }))
})
