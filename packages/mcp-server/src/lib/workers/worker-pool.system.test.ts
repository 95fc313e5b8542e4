import { serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { type JsonObject, WireError } from '@episodic/protocol'
import { createManualClock } from '@episodic/state'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EnvironmentDefinition } from '../environment/definition/environment.ts'
import { atControl } from '../fixtures/addressed.fixture.ts'
import { kuhn } from '../fixtures/kuhn.fixture.ts'
import { createMarket } from '../fixtures/market.fixture.ts'
import { numberGuessing } from '../fixtures/number-guessing.fixture.ts'
import { asking, call, createTestHost, freshKey } from '../fixtures/testbed.fixture.ts'
import { throwingHands } from '../fixtures/throwing-hands.fixture.ts'
import { tide } from '../fixtures/tide.fixture.ts'
import { warehouse } from '../fixtures/warehouse.fixture.ts'
import { treadmill } from '../fixtures/worker-world.fixture.ts'
import { workshop } from '../fixtures/workshop.fixture.ts'
import type { Host, StepCall, StepOutcome } from '../host/host.ts'
import { nextTurn } from '../host/yield-to-event-loop.ts'
import { createWorkerPool, type WorkerPoolOptions } from './worker-pool.ts'

const MODULES = ['number-guessing', 'workshop', 'worker-world', 'tide', 'kuhn', 'throwing-hands', 'warehouse'].map(
  (name) => new URL(`../fixtures/${name}.fixture.ts`, import.meta.url).href,
)

/** A host whose rules are played in threads, and the clock that stops them. */
function createIsolatedHost(options: Partial<WorkerPoolOptions> = {}) {
  const rulesClock = createManualClock()
  const rules = createWorkerPool({ modules: MODULES, clock: rulesClock, ...options })
  onTestFinished(() => rules[Symbol.asyncDispose]())
  return { rulesClock, rules, ...createTestHost({ environments: WORLDS, rules }) }
}
const WORLDS: EnvironmentDefinition[] = [numberGuessing, workshop, treadmill, tide, kuhn, throwingHands, warehouse]

const onTreadmill = (params = {}) => asking({ environment: 'treadmill', params })

/** Resolves with the outcome of a call, or with its error as the wire has it, without the random reference. */
async function settled(outcome: Promise<unknown>): Promise<unknown> {
  return outcome.catch((error: unknown) => {
    if (!WireError.is(error)) throw error
    const { reference, ...details } = error.details
    return { code: error.code, message: error.message, details }
  })
}

/** Starts a call that ends its thread, and resolves with its outcome. */
async function hog(host: Host, session: string, tool = 'spin') {
  const outcome = settled(atControl(host, session).step(call(tool)))
  await nextTurn()
  return outcome
}

describe('createWorkerPool', () => {
  it('returns the bytes that the rules return without threads: steps, refusals, chance, history and faults', async () => {
    const { host: isolated } = createIsolatedHost()
    const { host: direct } = createTestHost({ environments: WORLDS })
    const noArguments = fc.constant({})
    const moves: { readonly [world: string]: fc.Arbitrary<StepCall> } = {
      'number-guessing': fc
        .oneof(fc.record({ value: fc.integer({ min: -5, max: 110 }) }), fc.record({ value: fc.string() }))
        .map((args) => call('guess', args)),
      workshop: fc.oneof(
        fc
          .constantFrom('take', 'regret', 'gossip', 'lie', 'crash', 'silence', 'spoil', 'nothing')
          .map((tool) => call(tool)),
        fc.integer({ min: -3, max: 9 }).map((milliseconds) => call('wait', { milliseconds })),
        fc.constantFrom(10, 2_000_000).map((bytes) => call('stuff', { bytes })),
      ),
      treadmill: fc.oneof(
        fc
          .constantFrom('class', 'undefined', 'number', 'zero', 'function', 'text')
          .map((what) => call('collect', { what })),
        noArguments.map(() => call('run')),
        noArguments.map(() => call('babble')),
      ),
    }
    const anyEpisode = fc.constantFrom(...Object.keys(moves)).chain((environment) =>
      fc.record({
        environment: fc.constant(environment),
        seed: fc.string({ minLength: 1 }),
        calls: fc.array(moves[environment] as fc.Arbitrary<StepCall>, { maxLength: 12 }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(anyEpisode, async ({ environment, seed, calls }) => {
        const played = await Promise.all(
          [direct, isolated].map(async (host) => {
            const request = asking({ environment, seed })
            const { id: _, session, seats, ...opened } = await host.open(null, request)
            const texts = [JSON.stringify([opened, seats.agent?.observation])]
            for (const step of calls) texts.push(JSON.stringify(await settled(atControl(host, session).step(step))))
            const { id: __, ...state } = await atControl(host, session).state()
            return [...texts, JSON.stringify(state)]
          }),
        )
        expect(played[1]).toEqual(played[0])
      }),
      { numRuns: 60 },
    )
  })

  it('returns the bytes of games that the rules return without threads: turns, sealed moves, rewards of all seats', async () => {
    const { host: isolated } = createIsolatedHost()
    const { host: direct } = createTestHost({ environments: WORLDS })
    const moves = {
      'kuhn-poker': fc.constantFrom('pass', 'bet').map((move) => call('act', { move })),
      'rock-paper-scissors': fc
        .constantFrom('rock', 'paper', 'scissors', 'well')
        .map((hand) => call('throw', { hand })),
    }
    const anyEpisode = fc.constantFrom('kuhn-poker', 'rock-paper-scissors').chain((environment) =>
      fc.record({
        environment: fc.constant(environment),
        seed: fc.string({ minLength: 1 }),
        calls: fc.array(fc.tuple(fc.nat(1), moves[environment]), { maxLength: 12 }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(anyEpisode, async ({ environment, seed, calls }) => {
        const played = await Promise.all(
          [direct, isolated].map(async (host) => {
            const params: JsonObject = environment === 'rock-paper-scissors' ? { rounds: 3 } : {}
            const { session: token, seats } = await host.open(null, asking({ environment, params, seed }))
            const session = atControl(host, token)
            const texts: unknown[] = Object.values(seats).map(({ observation }) => observation)
            for (const [place, step] of calls) {
              const seat = Object.keys(seats)[place] as string
              texts.push(await settled(session.step({ ...step, seat })))
              for (const each of Object.keys(seats)) texts.push(await session.turn({ seat: each, wait: 0 }))
            }
            const { id: _, ...state } = await session.state()
            return JSON.stringify([texts, state])
          }),
        )
        expect(played[1]).toEqual(played[0])
      }),
      { numRuns: 40 },
    )
  })

  it('applies outside events with the same bytes as without threads, faults and ends too', async () => {
    const { host: isolated } = createIsolatedHost()
    const { host: direct } = createTestHost({ environments: WORLDS })
    const event = fc.oneof(
      fc.double({ min: -9, max: 9, noNaN: true }).map((by) => ({ type: 'rise', data: { by } })),
      fc.constantFrom('undefined', 'class', 'zero').map((what) => ({ type: 'leak', data: { what } })),
      fc.constantFrom('drown', 'burst', 'promise', 'unknown').map((type) => ({ type, data: {} })),
    )
    const move = fc.oneof({ weight: 3, arbitrary: event }, { weight: 2, arbitrary: fc.constant('stand' as const) })
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 12 }), async (moves) => {
        const played = await Promise.all(
          [direct, isolated].map(async (host) => {
            const { session } = await host.open(null, asking({ environment: 'tide', seed: 'seed' }))
            const texts: string[] = []
            for (const [i, move] of moves.entries()) {
              const outcome =
                move === 'stand'
                  ? atControl(host, session).step(call(move))
                  : atControl(host, session).publish({ id: String(i), ...move })
              texts.push(JSON.stringify(await settled(outcome)))
            }
            const { id: _, ...state } = await atControl(host, session).state()
            return [...texts, JSON.stringify(state)]
          }),
        )
        expect(played[1]).toEqual(played[0])
      }),
      { numRuns: 60 },
    )
  })

  it('refuses worlds whose tools prepare their steps', () => {
    const rules = createWorkerPool({ modules: MODULES })
    onTestFinished(() => rules[Symbol.asyncDispose]())
    expect(() => createTestHost({ environments: [tide, createMarket()], rules })).toThrow(
      /Tool quote of market prepares its steps, which worker threads do not support/,
    )
  })

  it('reports a start that throws as it does without threads', async () => {
    const { host: isolated, faults } = createIsolatedHost()
    const { host: direct } = createTestHost()
    const broken = { environment: 'workshop', params: { broken: true } }
    const refusals = await Promise.all([isolated, direct].map((host) => settled(host.open(null, asking(broken)))))
    expect(refusals[0]).toMatchObject({ code: 'environment-failed' })
    expect(refusals[0]).toEqual(refusals[1])
    // The log has the place in the thread where it was thrown.
    expect(faults[0]?.cause).toMatchObject({ stack: expect.stringContaining('workshop.fixture.ts') })
  })

  it('stops rules that run for too long, changes nothing, and plays the session on', async () => {
    const { host, rulesClock, faults } = createIsolatedHost({ timeoutSeconds: 5 })
    const { session, id } = await host.open(null, onTreadmill())
    await atControl(host, session).step(call('run'))
    const before = await atControl(host, session).state()
    const stuck = settled(atControl(host, session).step(call('spin')))
    const next = atControl(host, session).step(call('run'))
    await nextTurn()
    rulesClock.advance(4_999)
    rulesClock.advance(1)
    expect(await stuck).toEqual({
      code: 'environment-failed',
      message: 'The environment treadmill failed: The rules ran for more than 5 s and were stopped.',
      details: {},
    })
    expect((await next).step.observation.text).toBe('Ran.\n2 rounds.')
    expect(before.state.public).toMatchObject({ rounds: 1 })
    expect(faults).toMatchObject([{ environment: 'treadmill', session: id, reference: expect.any(String) }])
  })

  it('stops a start that never returns', async () => {
    const { host, rulesClock } = createIsolatedHost()
    await host.open(null, onTreadmill())
    const stuck = settled(host.open(null, onTreadmill({ stuckAtStart: true })))
    await nextTurn()
    rulesClock.advance(10_000)
    expect(await stuck).toMatchObject({ code: 'environment-failed', message: expect.stringContaining('10 s') })
    await host.open(null, onTreadmill())
  })

  it('plays other sessions while one call never returns, without using their time', async () => {
    const { host, rulesClock } = createIsolatedHost()
    const stuck = await host.open(null, onTreadmill())
    const other = await host.open(null, asking({ params: { low: 1, high: 1_000_000, maxGuesses: 1_000 } }))
    let over = false
    const spun = settled(atControl(host, stuck.session).step(call('spin'))).finally(() => {
      over = true
    })
    for (let value = 1; value <= 50; value++) await atControl(host, other.session).step(call('guess', { value }))
    expect(over).toBe(false)
    rulesClock.advance(10_000)
    expect(await spun).toMatchObject({ code: 'environment-failed' })
    expect((await atControl(host, other.session).state()).revision).toBe(50)
  })

  it.each([
    ['hoard', 'The rules needed more than 256 MB and were stopped.'],
    ['leave', 'The rules ended the thread that they ran in, with status 3.'],
  ])('survives rules that %s', async (tool, message) => {
    const { host } = createIsolatedHost()
    const { session } = await host.open(null, onTreadmill())
    expect(await hog(host, session, tool)).toMatchObject({
      code: 'environment-failed',
      message: expect.stringContaining(message),
    })
    expect((await atControl(host, session).step(call('run', {}, 0))).step.observation.text).toBe('Ran.\n1 rounds.')
  })

  it.each(['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'])(
    'rejects rules that schedule something with %s, because it would run in the call of another session',
    async (by) => {
      const { host } = createIsolatedHost()
      const { session } = await host.open(null, onTreadmill())
      expect(await settled(atControl(host, session).step(call('postpone', { by })))).toMatchObject({
        code: 'environment-failed',
        message: expect.stringContaining(`The rules use ${by}, and nothing of a call may happen after it.`),
      })
      expect((await atControl(host, session).step(call('run', {}, 0))).step.observation.text).toBe('Ran.\n1 rounds.')
    },
  )

  it('fails the call that leaves an error behind, and reports that error only in the log', async () => {
    const { host, faults } = createIsolatedHost()
    const [one, other] = await Promise.all([1, 2].map(() => host.open(null, onTreadmill())))
    expect(await settled(atControl(host, one?.session as string).step(call('abandon')))).toEqual({
      code: 'environment-failed',
      message: 'The environment treadmill failed: An error that nothing caught ended the thread that the rules ran in.',
      details: {},
    })
    expect(faults).toMatchObject([{ session: one?.id, cause: { cause: { message: 'Nobody caught this.' } } }])
    const { step } = await atControl(host, other?.session as string).step(call('run'))
    expect(step.observation.text).toBe('Ran.\n1 rounds.')
    expect(faults).toHaveLength(1)
  })

  it('repeats a call in a new thread if an error of another call ended its thread', async () => {
    const { host, faults } = createIsolatedHost()
    const [one, other] = await Promise.all([1, 2].map(() => host.open(null, onTreadmill())))
    await atControl(host, one?.session as string).step(call('litter'))
    const { step } = await atControl(host, other?.session as string).step(call('stroll'))
    expect(step).toMatchObject({ observation: { text: 'Strolled.\n0 rounds.' }, report: { seq: 1 } })
    expect(faults).toEqual([])
  })

  it('replaces a thread that keeps too much outside of its heap, and answers the call', async () => {
    const { host } = createIsolatedHost()
    const { session } = await host.open(null, onTreadmill())
    for (let i = 0; i < 3; i++) {
      const { step } = await atControl(host, session).step(call('inflate'))
      expect(step.observation.text).toBe('Balloon 1.\n0 rounds.')
    }
  })

  it('lists secrets in the thread, within the time of the call', async () => {
    const { host, rulesClock, faults } = createIsolatedHost()
    const { session } = await host.open(null, onTreadmill())
    const steps = ['run', 'run', 'nothing'].map((tool) => atControl(host, session).step(call(tool)))
    const { secrets } = (await Promise.all(steps)).at(-1) as StepOutcome
    expect(secrets.suspects('This was listed in a thread at 2.')).toBe(true)
    expect(secrets.suspects('This was listed in the server.')).toBe(false)
    const endless = settled(atControl(host, session).step(call('bury', { rounds: 1_000 })))
    await nextTurn()
    rulesClock.advance(10_000)
    expect(await endless).toMatchObject({ code: 'environment-failed', message: expect.stringContaining('10 s') })
    expect((await atControl(host, session).state()).revision).toBe(3)
    // An error while listing secrets fails no step, and withholds the answer.
    const { step } = await atControl(host, session).step(call('bury', { rounds: -1 }))
    expect(step.report.seq).toBe(4)
    expect(() => secrets.suspects('anything')).toThrow('The server failed.')
    expect(faults.at(-1)?.cause).toMatchObject({
      message: expect.stringContaining('`secrets` of treadmill threw: Who knows.'),
    })
  })

  it('lists the secrets of a large state in the thread too, and of its forks', async () => {
    const { host } = createIsolatedHost()
    const { session } = await host.open(null, onTreadmill())
    const outcomes = [await atControl(host, session).step(call('collect', { what: 'large' }))]
    outcomes.push(await atControl(host, session).step(call('run')))
    const [fork] = await atControl(host, session).fork({ requestKey: freshKey() })
    outcomes.push(await atControl(host, fork?.session as string).step(call('nothing')))
    expect(outcomes.map(({ secrets }) => secrets.suspects('This was listed in a thread at 1.'))).toEqual([
      true,
      true,
      true,
    ])
    expect(outcomes.map(({ secrets }) => secrets.suspects('This was listed in the server.'))).toEqual([
      false,
      false,
      false,
    ])
  })

  it('plays large states as without threads, and sends only the pages that a thread lacks', async () => {
    const messages: number[] = []
    const native = Worker.prototype.postMessage
    Worker.prototype.postMessage = function (this: Worker, message: unknown) {
      messages.push(serialize(message).length)
      native.call(this, message)
    }
    onTestFinished(() => {
      Worker.prototype.postMessage = native
    })
    const { host: isolated } = createIsolatedHost()
    const { host: direct } = createTestHost({ environments: WORLDS })
    const request = { environment: 'warehouse', params: { rows: 2_000 }, seed: 'seed' }
    const hosts = [isolated, isolated, direct]
    const opened = await Promise.all(hosts.map((host) => host.open(null, asking(request))))
    const sessions = hosts.map((host, index) => atControl(host, opened[index]?.session as string))
    const outcomes: unknown[][] = []
    for (let i = 0; i < 20; i++) {
      const played = await Promise.all(
        sessions.map(async (session) => {
          if (i % 5 === 1) await session.publish({ id: `e${i}`, type: 'arrive', data: { customer: 'Ann' } })
          return (await session.step(call(i % 3 ? 'cancel' : 'remove', { id: `o${i * 7}` }))).step
        }),
      )
      outcomes.push(played)
    }
    for (const [one, other, plain] of outcomes) expect([one, other]).toEqual([plain, plain])
    const states = await Promise.all(sessions.map(async (session) => (await session.state()).state))
    expect(states[0]).toEqual(states[2])
    expect(states[1]).toEqual(states[2])
    const whole = JSON.stringify(states[2]).length
    expect(messages.filter((bytes) => bytes > whole / 4).length).toBeLessThanOrEqual(4)
    expect(messages.length).toBeGreaterThan(40)
  })

  it('makes further calls wait for a thread, and loses none of them', async () => {
    const { host } = createIsolatedHost()
    const sessions = await Promise.all(Array.from({ length: 20 }, () => host.open(null, onTreadmill())))
    const steps = await Promise.all(sessions.map(({ session }) => atControl(host, session).step(call('run'))))
    expect(steps.map(({ step }) => step.observation.text)).toEqual(sessions.map(() => 'Ran.\n1 rounds.'))
  })

  it('rejects unanswered and later calls once it is disposed of', async () => {
    const { host, rules } = createIsolatedHost()
    const { session } = await host.open(null, onTreadmill())
    const stuck = settled(atControl(host, session).step(call('spin')))
    await nextTurn()
    await rules[Symbol.asyncDispose]()
    const stopped = { code: 'environment-failed', message: expect.stringContaining('because the server stops') }
    expect(await stuck).toMatchObject(stopped)
    expect(await settled(atControl(host, session).step(call('run')))).toMatchObject(stopped)
  })

  it('fails every call if the modules do not load or do not export the environment', async () => {
    const nowhere = createIsolatedHost({ modules: [new URL('./nowhere.ts', import.meta.url).href] })
    const outcomes = await Promise.all([1, 2, 3].map(() => settled(nowhere.host.open(null, onTreadmill()))))
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ code: 'environment-failed', message: expect.stringContaining('nowhere.ts') })
    const elsewhere = createIsolatedHost({ modules: MODULES.slice(0, 1) })
    expect(await settled(elsewhere.host.open(null, onTreadmill()))).toMatchObject({
      message: expect.stringContaining('No module of the threads exports the environment treadmill in version 1.0.0'),
    })
  })

  it('rejects a timeout that is not positive', () => {
    expect(() => createWorkerPool({ modules: MODULES, timeoutSeconds: 0 })).toThrow('has to be above 0')
  })
})
