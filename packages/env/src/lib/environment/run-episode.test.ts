import { inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { createWalkHost } from '../fixtures/endpoints.fixture.ts'
import { move } from '../fixtures/walk.fixture.ts'
import { PlayerStop } from '../policy/player-stop.ts'
import { definePolicy, type PolicyContext } from '../policy/policy.ts'
import { scriptedPolicy } from '../policy/scripted-policy.ts'
import { delegate, type Environment } from './environment.ts'
import { runEpisode } from './run-episode.ts'

async function withWalk(run: (environment: Environment) => Promise<void>): Promise<void> {
  await using host = createWalkHost()
  await using connection = await connect(inProcess(host))
  await run(connection.environment())
}

const stay = definePolicy({ name: 'stay', start: () => () => move(0) })

describe('runEpisode', () => {
  it('plays to the end and resolves with every step', () =>
    withWalk(async (environment) => {
      const ticks = [0, 5, 10, 30].values()
      const episode = await runEpisode({
        createEnvironment: () => environment,
        policy: stay,
        task: { limits: { steps: 2 } },
        seed: 'a',
        now: () => ticks.next().value as number,
      })
      expect(episode).toMatchObject({
        kind: 'finished',
        end: { kind: 'truncated', reason: 'step-limit' },
        start: { info: { seed: 'a' } },
        steps: [
          { action: move(0), milliseconds: 5 },
          { action: move(0), milliseconds: 20 },
        ],
      })
    }))

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

  it('closes the environment', () =>
    withWalk(async (environment) => {
      await runEpisode({ createEnvironment: () => environment, policy: stay, task: { limits: { steps: 1 } } })
      await expect(environment.step(move(0))).rejects.toMatchObject({ code: 'not-playing' })
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

  it('comes back as failed where the policy fails, in its beginning or later', () =>
    withWalk(async (environment) => {
      const thrown = () => {
        throw new Error('No idea.')
      }
      for (const start of [thrown, () => thrown, () => () => Promise.reject(new Error('No idea.'))])
        expect(
          await runEpisode({ createEnvironment: () => environment, policy: { name: 'lost', start } }),
        ).toMatchObject({ kind: 'failed', cause: { message: 'No idea.' } })
    }))

  it('truncates an episode whose player stops, with its steps, and closes the session', async () => {
    await using host = createWalkHost()
    await using connection = await connect(inProcess(host))
    const policy = definePolicy({
      name: 'tired',
      start() {
        let moves = 0
        return (_, { onCompletion }) => {
          if (moves++ < 2) return move(0)
          onCompletion?.({ model: 'm', promptTokens: 1, completionTokens: 1, cost: null, text: 'I give up.' })
          throw new PlayerStop('no-action', 'It gave up.')
        }
      },
    })
    const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy, seed: 'a' })
    expect(episode).toMatchObject({
      kind: 'finished',
      end: { kind: 'truncated', reason: 'no-action' },
      stopped: { reason: 'no-action', message: 'It gave up.' },
      steps: [{ action: move(0) }, { action: move(0) }],
      undecided: [{ text: 'I give up.' }],
    })
    expect((await host.list({ limit: 10 })).total).toBe(0)
  })

  it('truncates an episode whose player stops before its first action', () =>
    withWalk(async (environment) => {
      const start = () => Promise.reject(new PlayerStop('budget-spent', 'Nothing is left.'))
      const episode = await runEpisode({ createEnvironment: () => environment, policy: { name: 'poor', start } })
      expect(episode).toMatchObject({ kind: 'finished', steps: [], end: { reason: 'budget-spent' } })
    }))

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

describe('scriptedPolicy', () => {
  it('plays its actions in order, from the first in every episode', () =>
    withWalk(async (environment) => {
      const policy = scriptedPolicy([move(1), move(2)], 'two')
      expect(policy.name).toBe('two')
      for (let i = 0; i < 2; i++) {
        const task = { params: { size: 1_000 }, limits: { steps: 2 } }
        const episode = await runEpisode({ createEnvironment: () => environment, policy, task })
        expect(episode.steps.map(({ action }) => action)).toEqual([move(1), move(2)])
      }
    }))

  it('fails the episode when it runs out', () =>
    withWalk(async (environment) => {
      const episode = await runEpisode({
        createEnvironment: () => environment,
        policy: scriptedPolicy([move(0)]),
        task: { params: { size: 1_000 } },
      })
      expect(episode).toMatchObject({ kind: 'failed', cause: { code: 'option-invalid' } })
      expect(episode.steps).toHaveLength(1)
    }))
})
