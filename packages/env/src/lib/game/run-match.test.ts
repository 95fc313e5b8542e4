import { createHost, inProcess } from '@episodic/mcp-server'
import { type Channel, METHODS, seedFor, WireError } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { EnvError } from '../env-error.ts'
import { runEpisode } from '../environment/run-episode.ts'
import { meeting, nim, relay } from '../fixtures/nim.fixture.ts'
import { move, walk } from '../fixtures/walk.fixture.ts'
import { PlayerStop } from '../policy/player-stop.ts'
import { definePolicy, type Policy } from '../policy/policy.ts'
import { randomPolicy } from '../policy/random-policy.ts'
import type { Match, MatchOptions } from './match.ts'
import { runMatch } from './run-match.ts'

const createGames = () => createHost({ environments: [nim, meeting, relay] })

/** Leaves a multiple of four stones where it can, which wins. */
const perfect = definePolicy({
  name: 'perfect',
  start:
    () =>
    ({ structured }) => ({ tool: 'take', arguments: { count: (structured as { stones: number }).stones % 4 || 1 } }),
})

/** Passes the turn on. */
const passing = definePolicy({ name: 'passing', start: () => () => ({ tool: 'pass', arguments: {} }) })

/** A policy that takes one stone, and keeps the texts that it was shown. */
function takingOne(texts: string[]): Policy {
  return definePolicy({
    name: 'one',
    start: () => (observation) => {
      texts.push(observation.text)
      return { tool: 'take', arguments: { count: 1 } }
    },
  })
}

async function play(
  name: 'nim' | 'meeting' | 'relay',
  policies: MatchOptions['policies'],
  {
    task,
    channel = (inner: Channel) => inner,
    ...options
  }: Partial<MatchOptions> & { channel?: (inner: Channel) => Channel } = {},
): Promise<Match> {
  await using host = createGames()
  const retry = { attempts: 41, pause: async () => {} }
  await using connection = await connect(channel(inProcess(host)), { retry })
  const match = await runMatch({ createGame: () => connection.game(name), policies, ...(task && { task }), ...options })
  expect((await host.list({ limit: 10 })).total).toBe(0)
  return match
}

describe('runMatch', () => {
  it('shows a seat the answer to its move, what others sent since, and the state', async () => {
    const texts: string[] = []
    await play('nim', { ann: takingOne(texts), bob: takingOne([]) }, { task: { params: { stones: 3 } } })
    expect(texts).toEqual([
      '3 stones are left, and you took 0.',
      'You took 1.\nbob took 1.\n1 stones are left, and you took 1.',
    ])
  })

  it('gives a policy its seat, the tools of the seat and a seed of its own', async () => {
    const contexts: unknown[] = []
    const policy = definePolicy({
      name: 'resigns',
      start({ seat, tools, seed }) {
        contexts.push({ seat, tools: tools.map(({ name }) => name), seed })
        return () => ({ tool: 'resign', arguments: {} })
      },
    })
    await play('nim', { ann: policy, bob: policy }, { policySeed: 's' })
    expect(contexts).toEqual(
      ['ann', 'bob'].map((seat) => ({ seat, tools: ['take', 'resign'], seed: seedFor('s', seat) })),
    )
  })

  it('gives the reward of a round to both seats, also to the one that moved first', async () => {
    const rewards: Record<string, (number | undefined)[]> = { ann: [], bob: [] }
    const left = definePolicy({
      name: 'left',
      start:
        ({ seat = '' }) =>
        (_, { last }) => {
          rewards[seat]?.push(last?.reward.total)
          return { tool: 'choose', arguments: { choice: 'left' } }
        },
    })
    const match = await play('meeting', { ann: left, bob: left })
    expect(match).toMatchObject({ seats: { ann: { return: 3, steps: 3 }, bob: { return: 3, steps: 3 } } })
    expect(rewards).toEqual({ ann: [undefined, 1, 1], bob: [undefined, 1, 1] })
  })

  it('asks the players of a round at once', async () => {
    const asked = { ann: Promise.withResolvers<void>(), bob: Promise.withResolvers<void>() }
    const waiting = (me: 'ann' | 'bob', other: 'ann' | 'bob') =>
      definePolicy({
        name: 'waiting',
        start: () => async () => {
          asked[me].resolve()
          await asked[other].promise
          return { tool: 'choose', arguments: { choice: 'left' } }
        },
      })
    const match = await play('meeting', { ann: waiting('ann', 'bob'), bob: waiting('bob', 'ann') })
    expect(match.kind).toBe('finished')
  })

  it('plays the same match over a channel that loses requests and replies', async () => {
    const anyFates = fc.array(fc.constantFrom('arrives', 'request lost', 'reply lost'), { maxLength: 40 })
    const lossy = (fates: string[]) => (inner: Channel) => ({
      ...inner,
      async request(...given: Parameters<Channel['request']>) {
        const fate = given[0] === 'environment/list' ? 'arrives' : (fates.shift() ?? 'arrives')
        if (fate === 'request lost') throw new EnvError('connection-failed', 'Lost on the way there.')
        const reply = await inner.request(...given)
        if (fate === 'reply lost') throw new EnvError('connection-failed', 'Lost on the way back.')
        return reply
      },
    })
    await fc.assert(
      fc.asyncProperty(anyFates, fc.constantFrom('nim' as const, 'meeting' as const), async (fates, name) => {
        const policies = { ann: randomPolicy(), bob: randomPolicy() }
        const [lost, quiet] = [
          await play(name, policies, { seed: 's', channel: lossy(fates) }),
          await play(name, policies, { seed: 's' }),
        ]
        const actions = (match: Match, seat: string) =>
          match.steps.filter((step) => step.seat === seat).map(({ action, report }) => [action, report.seq])
        for (const seat of ['ann', 'bob']) expect(actions(lost, seat)).toEqual(actions(quiet, seat))
        expect(lost).toMatchObject({ kind: 'finished', seats: (quiet as Match & { kind: 'finished' }).seats })
      }),
      { numRuns: 25 },
    )
  })

  it('goes on after the steps that the server takes for a seat that has none left', async () => {
    const match = await play('relay', { ann: passing, bob: passing }, { task: { limits: { steps: 2 } } })
    expect(match.steps.map(({ seat, action: { tool } }) => `${seat} ${tool}`)).toEqual([
      ...['ann pass', 'bob pass', 'ann pass', 'bob pass'],
      'ann absent',
    ])
    expect(match).toMatchObject({
      kind: 'finished',
      seats: { ann: { return: -1, end: { reason: 'forfeit' } }, bob: { return: 1 } },
    })
  })

  it('goes on after the step that the server takes for a seat whose player is said to have left', async () => {
    const leaves = (inner: Channel): Channel => {
      let session: unknown
      return {
        ...inner,
        async request(method, params, options) {
          const meta = (params as { _meta?: Record<string, unknown> })._meta
          if (meta?.['dev.episodic/seat'] === 'bob')
            await inner.request('environment/leave', { session, seat: 'bob' } as never)
          const reply = await inner.request(method, params, options)
          session ??= (reply as { session?: unknown }).session
          return reply
        },
      }
    }
    const match = await play('relay', { ann: passing, bob: passing }, { channel: leaves })
    expect(match.steps.map(({ seat, action: { tool } }) => `${seat} ${tool}`)).toEqual(['ann pass', 'bob absent'])
    expect(match).toMatchObject({ kind: 'finished', seats: { ann: { return: 1 }, bob: { return: -1 } } })
  })

  it('keeps what a model answered before somebody else took the step of its seat', async () => {
    let intervened = false
    const intervenes = (inner: Channel): Channel => ({
      ...inner,
      async request(method, params, options) {
        const { _meta } = params as { _meta?: Record<string, unknown> }
        if (!intervened && _meta?.['dev.episodic/seat'] === 'bob') {
          intervened = true
          await inner.request('tools/call', { name: 'take', arguments: { count: 2 }, _meta } as never)
        }
        return inner.request(method, params, options)
      },
    })
    let asked = 0
    const model = definePolicy({
      name: 'model',
      start: () => (_, view) => {
        view.onCompletion?.({ model: 'm', promptTokens: 1, completionTokens: 1, cost: null, text: `${++asked}` })
        return { tool: 'take', arguments: { count: 1 } }
      },
    })
    const match = await play('nim', { ann: takingOne([]), bob: model }, { channel: intervenes })
    expect(match).toMatchObject({ kind: 'finished' })
    const own = match.steps.filter(({ seat }) => seat === 'bob')
    expect(own.map(({ completions }) => completions.map(({ text }) => text))).toEqual([[], ['1', '2'], ['3']])
  })

  it.each([
    ['throws', () => Promise.reject(new Error('out of order'))],
    ['does not start', null],
  ])('fails the match for every seat if a policy %s, and names the seat', async (_, act) => {
    const broken = definePolicy({
      name: 'broken',
      start() {
        if (!act) throw new Error('out of order')
        return act
      },
    })
    const match = await play('nim', { ann: perfect, bob: broken })
    expect(match).toMatchObject({ kind: 'failed', seat: 'bob', cause: { message: 'out of order' } })
  })

  const stopping = (actions: number, policy: Policy): Policy =>
    definePolicy({
      name: 'stopping',
      async start(context) {
        const player = await policy.start(context)
        let asked = 0
        return (observation, view) => {
          if (asked++ < actions) return player(observation, view)
          view.onCompletion?.({ model: 'm', promptTokens: 1, completionTokens: 1, cost: null, text: 'I give up.' })
          throw new PlayerStop('no-action', 'It gave up.')
        }
      },
    })

  it('fails if the game cannot be closed, with what a model had answered before its player stopped', async () => {
    await using host = createGames()
    const inner = inProcess(host)
    const channel: Channel = {
      ...inner,
      async request(method, params, options) {
        if (method === METHODS.close) throw new WireError('internal', 'Not now.')
        return inner.request(method, params, options)
      },
    }
    await using connection = await connect(channel)
    const policies = { ann: stopping(0, perfect), bob: perfect }
    const match = await runMatch({ createGame: () => connection.game('nim'), policies })
    expect(match).toMatchObject({
      kind: 'failed',
      seat: null,
      cause: { code: 'internal' },
      undecided: [{ text: 'I give up.' }],
    })
  })

  it('lets the rules decide what the seat of a player loses that stops, and names it', async () => {
    const match = await play('relay', { ann: passing, bob: stopping(1, passing) })
    expect(match.steps.map(({ seat, action: { tool } }) => `${seat} ${tool}`)).toEqual([
      ...['ann pass', 'bob pass', 'ann pass'],
      'bob absent',
    ])
    expect(match.steps.at(-1)?.completions).toMatchObject([{ text: 'I give up.' }])
    expect(match).toMatchObject({
      kind: 'finished',
      seats: {
        ann: { return: 1, end: { reason: 'forfeit' } },
        bob: { return: -1, end: { reason: 'forfeit' }, stopped: { reason: 'no-action' } },
      },
    })
  })

  it('ends a match of moves at once if a player stops', async () => {
    const choosing = definePolicy({
      name: 'choosing',
      start: () => () => ({ tool: 'choose', arguments: { choice: 'left' } }),
    })
    const match = await play('meeting', { ann: choosing, bob: stopping(2, choosing) })
    expect(match).toMatchObject({
      kind: 'finished',
      seats: { ann: { end: { reason: 'closed' }, return: 2 }, bob: { end: { reason: 'no-action' }, return: 2 } },
    })
    const steps = match.steps.map(({ report }) => report.revision)
    expect(steps).toEqual([...steps.keys()].map((i) => i + 1))
  })

  it('fails without blame when it is aborted, and closes the session', async () => {
    const abort = new AbortController()
    const silent = definePolicy({ name: 'silent', start: () => abortable(abort.signal) })
    const playing = play('nim', { ann: perfect, bob: silent }, { signal: abort.signal })
    abort.abort(new Error('enough'))
    expect(await playing).toMatchObject({ kind: 'failed', seat: null, cause: { message: 'enough' } })
  })

  it.each([
    [{ ann: perfect }, 'No policy is given for the seat bob of nim.'],
    [{ ann: perfect, bob: perfect, cid: perfect }, 'nim has no seat "cid". Its seats are: ann, bob.'],
  ])('fails for policies that do not fit the seats', async (policies, message) => {
    expect(await play('nim', policies)).toMatchObject({ kind: 'failed', cause: { code: 'option-invalid', message } })
  })
})

/** A player that never answers, until its match is called off. */
function abortable(signal: AbortSignal) {
  return () => new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

describe('a connection', () => {
  it('refuses to play several seats as an environment, and a game that there is not', async () => {
    await using host = createGames()
    await using connection = await connect(inProcess(host))
    expect(() => connection.environment('nim')).toThrow('nim has several seats (ann, bob).')
    expect(() => connection.game('chess')).toThrow('The server has no environment "chess"')
  })
})

describe('a game of one seat', () => {
  const goal = { params: { size: 4 }, seed: 'slips' }
  const steady = definePolicy({ name: 'steady', start: () => () => move(1) })

  it('is played as the environment: the same steps, rewards, end and success', async () => {
    await using host = createHost({ environments: [walk] })
    await using connection = await connect(inProcess(host))
    expect(connection.game().info.seats).toBeUndefined()
    const match = await runMatch({ createGame: () => connection.game('walk'), policies: { agent: steady }, task: goal })
    const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy: steady, task: goal })
    expect([match.kind, episode.kind]).toEqual(['finished', 'finished'])
    expect(match.steps.map(({ observation, report: { stateHash, terms } }) => [observation, stateHash, terms])).toEqual(
      episode.steps.map(({ observation, info: { stateHash }, reward: { terms } }) => [observation, stateHash, terms]),
    )
    const [result] = Object.values((match as Extract<Match, { kind: 'finished' }>).seats)
    const earned = episode.steps.reduce((sum, { reward }) => sum + reward.total, 0)
    expect(result).toMatchObject({ end: episode.steps.at(-1)?.end, steps: episode.steps.length })
    expect(result?.return).toBeCloseTo(earned, 12)
  })

  it('is cut off at a player that leaves, at the limit of steps, and says what its seat knows', async () => {
    await using host = createHost({ environments: [walk] })
    await using connection = await connect(inProcess(host))
    const createGame = () => connection.game('walk')
    const leaving = definePolicy({
      name: 'leaving',
      start: ({ seat, tools }) => {
        expect([seat, tools.map(({ name }) => name)]).toEqual(['agent', ['move', 'break']])
        return () => {
          throw new PlayerStop('budget-spent', 'It has no more tokens.')
        }
      },
    })
    expect(await runMatch({ createGame, policies: { agent: leaving }, task: goal })).toMatchObject({
      kind: 'finished',
      seats: { agent: { end: { kind: 'truncated', reason: 'budget-spent' }, steps: 0 } },
    })
    const staying = definePolicy({ name: 'staying', start: () => () => move(-1) })
    const task = { ...goal, limits: { steps: 3 } }
    expect(await runMatch({ createGame, policies: { agent: staying }, task })).toMatchObject({
      kind: 'finished',
      seats: { agent: { end: { kind: 'truncated', reason: 'step-limit' }, steps: 3 } },
    })
    expect(await runMatch({ createGame, policies: { ann: staying }, task })).toMatchObject({
      kind: 'failed',
      cause: { message: 'No policy is given for the seat agent of walk.' },
    })
    await using game = createGame()
    const { turn } = await game.reset(goal)
    expect(turn).toEqual(['agent'])
    await game.step('agent', move(-1))
    const [fork] = await game.fork()
    expect(fork?.start.turn).toEqual(['agent'])
    expect((await game.log()).map(({ seat }) => seat)).toEqual(['agent'])
    expect(await game.turn('agent')).toMatchObject({ mine: true, end: null })
    await fork?.close()
  })
})

describe('a game', () => {
  it('is forked for every seat, and each fork goes on by itself', async () => {
    await using host = createGames()
    await using connection = await connect(inProcess(host))
    await using game = connection.game('nim')
    await game.reset({ params: { stones: 4 } })
    await game.step('ann', { tool: 'take', arguments: { count: 1 } })
    const [fork] = await game.fork()
    expect(fork?.start.turn).toEqual(['bob'])
    expect((await fork?.step('bob', { tool: 'take', arguments: { count: 3 } }))?.report.end).toMatchObject({
      reason: 'empty',
    })
    expect(await game.turn('bob')).toMatchObject({ mine: true, messages: ['ann took 1.'], end: null })
    await fork?.close()
  })

  it('waits for the turn of a seat that somebody else plays', async () => {
    await using host = createGames()
    await using connection = await connect(inProcess(host))
    await using game = connection.game('nim')
    await game.reset()
    const turn = game.turn('bob', { wait: 60 })
    await game.step('ann', { tool: 'take', arguments: { count: 2 } })
    expect(await turn).toMatchObject({ mine: true, observation: { structured: { stones: 5 } } })
  })
})
