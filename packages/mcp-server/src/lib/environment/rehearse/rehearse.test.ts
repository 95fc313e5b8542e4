import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import fs, { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { get } from 'node:http'
import { freemem } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import type { JsonObject, Observation } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { garden } from '../../fixtures/garden.fixture.ts'
import { createExchange, createMarket } from '../../fixtures/market.fixture.ts'
import { numberGuessing } from '../../fixtures/number-guessing.fixture.ts'
import { createTestHost, freshKey } from '../../fixtures/testbed.fixture.ts'
import { PASSWORD, vault } from '../../fixtures/vault.fixture.ts'
import { TRADE_SECRET, workshop } from '../../fixtures/workshop.fixture.ts'
import { ServerError } from '../../server-error.ts'
import { defineEnvironment } from '../definition/define-environment.ts'
import type { EnvironmentDefinition } from '../definition/environment.ts'
import { rehearse } from './rehearse.ts'

describe('rehearse', () => {
  it('refuses parameters that the schema refuses, and names them', () => {
    expect(() => rehearse(numberGuessing, { params: { maxGuesses: 0 } })).toThrow(/maxGuesses/)
  })

  it('forks into rehearsals that go on alike, and share nothing', () => {
    const world = rehearse(numberGuessing, { params: { high: 30 }, seed: 'forked' })
    world.play('guess', { value: 3 })
    const [fork, other] = [world.fork(), world.fork()]
    const step = world.play('guess', { value: 7 })
    expect(fork.play('guess', { value: 7 })).toEqual(step)
    expect(fork.state).toEqual(world.state)
    expect(other.state.public.guesses).toHaveLength(1)
    expect(other.play('guess', { value: 9 }).stateHash).not.toBe(step.stateHash)
  })

  describe('a refused step', () => {
    const refusals = [
      ['rules', 'guess', { value: 101 }, 'Out of range.'],
      ['arguments', 'guess', { value: 'fifty' }, 'value: Invalid input: expected number, received string'],
      ['arguments', 'guess', {}, 'value is missing: expected number.'],
      ['arguments', 'guess', { value: -0 }, 'arguments.value is -0'],
      ['tool', 'peek', {}, 'There is no tool "peek". The tools are: guess.'],
      ['tool', 'toString', {}, 'There is no tool "toString".'],
    ] as const

    it.each(refusals)('by %s (%s %j) says why, costs, and leaves everything as it was', (refused, tool, args, why) => {
      const world = rehearse<EnvironmentDefinition>(numberGuessing)
      world.play('guess', { value: 1 })
      const before = structuredClone(world.state)
      const played = world.play(tool, args)
      expect(played.refused).toBe(refused)
      expect(played.observation.text).toContain(why)
      expect(played.observation.structured).toBeNull()
      expect(played.change).toBeNull()
      expect(played.terms).toEqual({ jackpot: 0, toll: -0.05 })
      expect(played.potential).toBe(-1)
      expect(world.state).toEqual(before)
    })

    it('discards the draws, the time and the end that came before the refusal', () => {
      const regretful = rehearse(workshop)
      const plain = rehearse(workshop)
      expect(regretful.play('regret', {})).toMatchObject({ refused: 'rules', end: null, terms: { thrift: -1 } })
      const [after, unspoiled] = [regretful.play('take', {}).change, plain.play('take', {}).change]
      expect({ ...after, state: after?.state.private }).toEqual({ ...unspoiled, state: unspoiled?.state.private })
      // What a session remembers of its own steps holds the refusal too.
      expect(after?.state.public).toEqual({ ...unspoiled?.state.public, remembered: ['regret'] })
    })

    it('never changes the state, in any order with other steps', () => {
      fc.assert(
        fc.property(fc.array(fc.constantFrom('take', 'regret', 'unknown'), { maxLength: 12 }), (tools) => {
          const world = rehearse<EnvironmentDefinition>(workshop, { params: { stock: 5 } })
          for (const tool of tools) {
            const before = structuredClone(world.state)
            if (world.play(tool, {}).refused) expect(world.state).toEqual(before)
          }
        }),
      )
    })
  })

  it('returns what the output schema declares and nothing else', () => {
    const { observation } = rehearse(workshop).play('gossip', {})
    expect(observation.structured).toEqual({ rumour: 'something' })
    expect(JSON.stringify(observation)).not.toContain(TRADE_SECRET)
  })

  it('answers with the declared keys of the public state if a tool has no output', () => {
    const world = rehearse(leaky)
    expect(world.observation.structured).toEqual({ count: 0 })
    expect(world.play('count', {}).observation.structured).toEqual({ count: 1 })
  })

  it.each([
    ['crash', /vault/],
    ['lie', /Tool lie of workshop gave a wrong answer: rumour/],
    ['silence', /Tool silence of workshop returned no answer/],
    ['wait', /elapse needs milliseconds from 0 up; it got -1/],
  ])('throws what %s throws, and stays where it was', (tool, message) => {
    const world = rehearse<EnvironmentDefinition>(workshop)
    const before = structuredClone(world.state)
    expect(() => world.play(tool, { milliseconds: -1 })).toThrow(message)
    expect(world.state).toEqual(before)
    expect(world.play('take', {}).observation.structured).toMatchObject({ stock: 2, now: 0 })
  })

  it('moves virtual time by elapse alone', () => {
    const world = rehearse(workshop)
    world.play('wait', { milliseconds: 20 })
    expect(world.play('take', {}).observation.structured).toMatchObject({ now: 40 })
  })

  it.each([
    ['a wrong start', { public: { count: 'none' }, private: {} }, /public state that cannot be kept: count/],
    ['a start that JSON cannot say', { public: { count: 0 }, private: { at: Number.NaN } }, /private state/],
  ])('throws rules-failed for %s', (_, start, message) => {
    const broken = counter({ start: start as never })
    expect(() => rehearse(broken)).toThrow(message)
    try {
      rehearse(broken)
    } catch (error) {
      expect(ServerError.is(error, 'rules-failed')).toBe(true)
    }
  })

  it.each([
    [Number.NaN, 'reward'],
    [Number.POSITIVE_INFINITY, 'reward'],
    ['1' as never, 'reward'],
    [Number.NaN, 'potential'],
  ] as const)('throws rules-failed for %s as a %s', (value, part) => {
    const world = () =>
      rehearse(
        counter({ reward: () => (part === 'reward' ? value : 0), potential: () => (part === 'potential' ? value : 0) }),
      )
    expect(() => world().play('count', {})).toThrow(/has to return a finite number/)
  })
})

describe('a strict rehearsal', () => {
  it.each([
    ['Math.random', () => Math.random(), /uses Math.random.*rng.float/],
    ['crypto', () => crypto.randomUUID().length, /uses crypto.randomUUID/],
    ['the clock', () => Date.now(), /uses the date of today.*now and elapse/],
    ['a new Date', () => new Date().getUTCFullYear(), /uses the date of today/],
    ['performance', () => performance.now(), /uses performance.now/],
    ['the steady clock', () => process.hrtime()[0], /uses process.hrtime\. .*now and elapse/],
    [
      'the steady clock in nanoseconds',
      () => Number(process.hrtime.bigint()),
      /uses process.hrtime.bigint\. .*now and/,
    ],
    ['a signal that waits', () => Number(AbortSignal.timeout(1).aborted), /uses AbortSignal.timeout/],
    ['a timer', () => Number(setTimeout(() => {}, 0)), /uses setTimeout/],
    ['the network', () => Number(void fetch('http://127.0.0.1:9')), /uses fetch/],
    ['a socket', () => Number(new WebSocket('ws://127.0.0.1:9').readyState), /uses WebSocket/],
    ['a request', () => Number(get('http://127.0.0.1:9').destroyed), /uses get of node:http\./],
    ['a file', () => readFileSync(import.meta.filename).length, /uses readFileSync of node:fs\..*when the module/],
    ['whether a file is there', () => Number(fs.existsSync('/')), /uses existsSync of node:fs/],
    ['a file that is read later', () => Number(void readFile('/')), /uses readFile of node:fs\/promises/],
    ['a program', () => execFileSync('true').length, /uses execFileSync of node:child_process/],
    ['the machine', () => freemem(), /uses freemem of node:os.*params or the state/],
    ['the chance of Node', () => randomInt(5), /uses randomInt of node:crypto.*rng.float/],
    ['the timers of Node', () => Number(void wait(5)), /uses setTimeout of node:timers\/promises/],
    ['the folder', () => process.cwd().length, /uses process.cwd/],
    ['a variable', () => process.env.HOME?.length ?? 0, /uses process.env.HOME\..*params or the state/],
    ['whether there is a variable', () => Number('CI' in process.env), /uses process.env.CI/],
    ['all variables', () => Object.keys(process.env).length, /uses process.env\./],
  ])('catches %s in rules, and lets everybody else have it', (_, reach, message) => {
    expect(() => rehearse(counter({ reward: reach }), { strict: true }).play('increase', {})).toThrow(message)
    expect(() => rehearse(counter({ potential: reach }), { strict: true })).toThrow(message)
    expect(Math.random()).toBeLessThan(1)
    expect(new Date().getUTCFullYear()).toBeGreaterThan(2000)
    clearTimeout(setTimeout(() => {}, 0))
    expect(readFileSync(import.meta.filename, 'utf8')).toContain('lets everybody else have it')
    expect(process.env.PATH).toBeTypeOf('string')
    expect(randomInt(1)).toBe(0)
  })

  it('lets libraries ask in which way the process runs', () => {
    const reward = () => (process.env.NODE_ENV === 'test' ? 1 : 0)
    expect(rehearse(counter({ reward }), { strict: true }).play('increase', {}).terms).toEqual({ counted: 1 })
  })

  it('lets rules reckon with given dates', () => {
    const year = () => new Date(86_400_000 * 365).getUTCFullYear() + Date.UTC(1970, 0)
    expect(rehearse(counter({ reward: year }), { strict: true }).play('increase', {}).terms).toEqual({ counted: 1971 })
  })

  it('refuses what no schema declares, and what its schema refuses', () => {
    expect(() => rehearse(counter({}), { strict: true }).play('count', {})).toThrow(/says "undeclared"/)
    expect(() => rehearse(counter({}), { strict: true }).play('spoil', {})).toThrow(
      /left a wrong public state: count: Invalid input/,
    )
    expect(rehearse(counter({}), { strict: true }).play('increase', {}).change?.state.public).toEqual({ count: 1 })
  })

  it('refuses a secret that is too short to be searched for, at the start and after a step', () => {
    const listing = (secret: string) => rehearse({ ...vault, secrets: () => [secret] }, { strict: true })
    expect(listing('pin 1234').play('repeat', { text: 'Hello.' }).refused).toBeNull()
    expect(() => listing('pin 123')).toThrow(/secrets of vault have one of 7 characters.*8 or more/)
    const late = rehearse({ ...vault, secrets: ({ public: { open } }) => (open ? ['late'] : []) }, { strict: true })
    expect(() => late.play('try', { word: PASSWORD })).toThrow(/one of 4 characters/)
    expect(rehearse({ ...vault, secrets: () => ['short'] }).play('repeat', { text: 'Hello.' }).refused).toBeNull()
  })

  it('throws for an answer with a text that is still secret after it, which a host would withhold', () => {
    const play = (tool: string, args: JsonObject, strict = true) =>
      rehearse<EnvironmentDefinition>(vault, { strict }).play(tool, args)
    for (const where of ['text', 'structured', 'refusal', 'observation', 'json']) {
      expect(() => play('blab', { where })).toThrow(/Tool blab of vault says what `secrets` lists/)
      expect(showsPassword(play('blab', { where }, false).observation)).toBe(true)
    }
    // The player may see what it said itself, and the password of an open vault is not secret any more.
    expect(showsPassword(play('repeat', { text: PASSWORD }).observation)).toBe(true)
    expect(showsPassword(play('try', { word: PASSWORD }).observation)).toBe(true)
  })

  it('plays the same as a session, to the hash of the state', async () => {
    const { host } = createTestHost()
    const seed = 'the same'
    const { session } = await host.open(null, { environment: 'number-guessing', seed, requestKey: 'k'.repeat(22) })
    const world = rehearse(numberGuessing, { seed, strict: true })
    for (const value of [1, 100, 0, 2]) {
      const { step } = await atControl(host, session).step({ action: { tool: 'guess', arguments: { value } } })
      const { observation, terms, potential, refused, stateHash } = world.play('guess', { value })
      expect({ observation, report: { terms, potential, refused, stateHash } }).toMatchObject({
        observation: step.observation,
        report: {
          terms: step.report.terms,
          potential: step.report.potential,
          refused: step.report.refused,
          stateHash: step.report.stateHash,
        },
      })
    }
  })

  it('plays like a fork with a seed after `reseed` with the same seed', async () => {
    const { host } = createTestHost({ environments: [garden] })
    const water = { tool: 'water', arguments: { litres: 2 } }
    const { session } = await host.open(null, { environment: 'garden', seed: 'old', requestKey: freshKey() })
    const world = rehearse(garden, { seed: 'old' })
    for (let i = 0; i < 3; i++) {
      const { step } = await atControl(host, session).step({ action: water })
      expect(world.play('water', water.arguments).stateHash).toBe(step.report.stateHash)
    }
    const [fork] = await atControl(host, session).fork({ seed: 'fresh', requestKey: freshKey() })
    const unlike = rehearse(garden, { seed: 'old' })
    for (let i = 0; i < 3; i++) unlike.play('water', water.arguments)
    world.reseed(fork?.seed as string)
    for (let i = 0; i < 3; i++) {
      const { step } = await atControl(host, fork?.session as string).step({ action: water })
      const { observation, stateHash } = world.play('water', water.arguments)
      expect({ observation, stateHash }).toEqual({
        observation: step.observation,
        stateHash: step.report.stateHash,
      })
      expect(unlike.play('water', water.arguments).stateHash).not.toBe(stateHash)
    }
  })

  it('returns what is revealed, and plays on a given private state', () => {
    const world = rehearse(numberGuessing, { privateState: { target: 7 } })
    expect(world.play('guess', { value: 3 }).revealed).toEqual(['higher'])
    expect(world.play('guess', { value: 7 }).end).toEqual({ kind: 'terminated', reason: 'solved' })
  })
})

function showsPassword(observation: Observation): boolean {
  return JSON.stringify(observation).includes('sesame')
}

interface Exchanged {
  readonly start?: never
  readonly reward?: () => number
  readonly potential?: () => number
}

/** A world that counts, with some of its parts exchanged. */
function counter({ start, reward = () => 0, potential = () => 0 }: Exchanged) {
  return defineEnvironment({
    name: 'counter',
    version: '1.0.0',
    description: 'Counts.',
    params: z.object({}),
    state: { public: z.object({ count: z.int() }), private: z.object({ at: z.any().optional() }) },
    start: () => start ?? { public: { count: 0, undeclared: TRADE_SECRET }, private: {} },
    observe: ({ count }) => `${count}`,
    tools: ({ tool }) => ({
      count: tool({
        description: 'Counts.',
        input: z.object({}),
        play({ state, say }) {
          state.public.count += 1
          Object.assign(state.public, { undeclared: TRADE_SECRET })
          return say('Counted.')
        },
      }),
      increase: tool({
        description: 'Counts, and keeps to what is declared.',
        input: z.object({}),
        play({ state, say }) {
          Object.assign(state, { public: { count: state.public.count + 1 } })
          return say('Increased.')
        },
      }),
      spoil: tool({
        description: 'Leaves a state that the schema refuses.',
        input: z.object({}),
        output: z.object({}),
        play({ state, say }) {
          state.public.count = 0.5
          return say('Spoiled.', {})
        },
      }),
    }),
    rewards: { counted: reward },
    potential,
  })
}

/** A world whose state holds more than its schema declares. */
const leaky = counter({})

describe('the preparation of a rehearsed step', () => {
  it('calls the `prepare` of the tool on the state of now, and changes nothing', async () => {
    const exchange = createExchange()
    const world = rehearse(createMarket({ ...exchange, order: (shares) => shares * 2 }))
    const before = JSON.stringify(world.state)
    expect(await world.prepare('quote', { shares: 3 })).toEqual({ fee: 6 })
    expect(JSON.stringify(world.state)).toBe(before)
    const prepared = await world.prepare('quote', { shares: 4 })
    expect(world.play('quote', { shares: 4 }, { prepared }).observation.text).toMatch(/^The fee is 8\./)
  })

  it('is nothing for a tool without one, and for arguments that are refused', async () => {
    const world = rehearse<EnvironmentDefinition>(createMarket())
    expect(await world.prepare('buy', { shares: 1 })).toBeUndefined()
    expect(await world.prepare('quote', { shares: 'many' })).toBeUndefined()
  })

  it('rejects with what the tool throws, and with what its schema does not allow', async () => {
    const orders = [
      () => {
        throw new Error('no line')
      },
      () => 0.5,
    ]
    for (const order of orders)
      await expect(rehearse(createMarket({ orders: 0, order })).prepare('quote', { shares: 1 })).rejects.toMatchObject({
        code: 'rules-failed',
        message: expect.stringMatching(/^The preparation of tool quote/),
      })
  })
})

describe('a tool that says that its preparation is repeatable', () => {
  const preparing = { prepared: z.object({}), prepare: () => ({}) }
  it.each([
    [{}, /A tool has repeatable alone/],
    [{ ...preparing, effect: 'external' as const }, /An effect that must not happen twice cannot be repeated/],
  ])('cannot be without one, nor have an effect that must not happen twice', (parts, message) => {
    const define = () =>
      defineEnvironment({
        name: 'repeating',
        version: '1.0.0',
        description: 'A tool is repeatable.',
        state: { public: z.object({}), private: z.object({}) },
        start: () => ({ public: {}, private: {} }),
        observe: () => '',
        tools: ({ tool }) => ({
          look: tool({
            description: 'Looks.',
            input: z.object({}),
            repeatable: true,
            ...(parts as typeof preparing),
            play: ({ say }) => say('Done.'),
          }),
        }),
        rewards: {},
      })
    expect(define).toThrow(message)
  })
})
