import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { replayEpisode } from '@episodic/analysis/replay/replay-episode'
import {
  connect,
  definePolicy,
  delegate,
  type Environment,
  type EventInput,
  runEpisode,
  runMatch,
  runTree,
} from '@episodic/env'
import { createHost, defineGame, inProcess } from '@episodic/mcp-server'
import { sealEpisode } from '@episodic/play/play/record/seal-episode'
import { chainOf, type EpisodeRecord, type MatchRecord, type Task } from '@episodic/protocol'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { openWorkshop, parseLine } from '../../fixtures/episodic.fixture.ts'
import { environment, timesAsked } from './market.fixture.ts'

const WORLD = fileURLToPath(new URL('./market.fixture.ts', import.meta.url))
const PLAIN = { weights: {}, shaping: false, discount: 1 }
const SEALING = { run: 'run', policy: { name: 'buyer', seed: 'seed' }, discount: 1, time: { started: 0, ended: 1 } }
const TASK: Task = {
  id: 'task',
  environment: { name: 'market', version: '1.0.0' },
  server: undefined,
  tools: ['buy'],
  prompt: 'Buy.',
  hints: [],
  params: {},
  seed: 'seed',
  difficulty: 0,
  limits: {},
  split: 'train',
  tags: [],
  metadata: {},
}

/** Always buys. */
const buyer = definePolicy({ name: 'buyer', start: () => () => ({ tool: 'buy', arguments: {} }) })

const price = (price: number): EventInput => ({ type: 'price-changed', data: { price } })

/** Opens a market to which the given events are published, a list before each step. */
async function openMarket(events: readonly (readonly EventInput[])[]): Promise<Environment> {
  const host = createHost({ environments: [environment] })
  onTestFinished(() => host[Symbol.asyncDispose]())
  const connection = await connect(inProcess(host))
  const market = connection.environment()
  onTestFinished(() => market.close())
  let step = 0
  return delegate(market, {
    async step(action, options) {
      for (const event of events[step++] ?? []) await market.publish(event)
      return market.step(action, options)
    },
  })
}

async function record(events: readonly (readonly EventInput[])[]): Promise<EpisodeRecord> {
  const market = await openMarket(events)
  const episode = await runEpisode({ createEnvironment: () => market, policy: buyer, seed: 'seed' })
  const sealed = sealEpisode(episode, { task: TASK, attempt: 0 }, SEALING)
  // As it is read from a line.
  return parseLine(JSON.parse(JSON.stringify(sealed))) as EpisodeRecord
}

const asRead = (record: EpisodeRecord) => ({ record, whole: chainOf(record) === record.chain })

/** Two dealers, of whom one may be sent a price. */
const dealers = defineGame({
  name: 'dealers',
  version: '1.0.0',
  description: 'Buy in turn.',
  seats: ['ann', 'bob'],
  state: {
    public: z.object({ buys: z.int() }),
    own: z.object({ price: z.int().nullable() }),
    private: z.object({}),
  },
  start: () => ({ public: { buys: 0 }, own: { ann: { price: null }, bob: { price: null } }, private: {} }),
  turn: ({ buys }) => (buys === 0 ? 'ann' : 'bob'),
  observe: ({ own: { price } }) => `You know of ${price ?? 'no price'}.`,
  events: ({ event }) => ({
    tip: event({
      description: 'One is sent a price.',
      data: z.object({ to: z.enum(['ann', 'bob']), price: z.int() }),
      apply({ state, data: { to, price }, say, send }) {
        state.own[to].price = price
        say('A tip goes round.')
        send(to, `It is worth ${price}.`)
      },
    }),
  }),
  tools: ({ tool }) => ({
    buy: tool({
      description: 'Buys one.',
      input: z.object({}),
      play({ state, say, end }) {
        state.public.buys += 1
        if (state.public.buys === 2) end('sold-out')
        return say('Bought.')
      },
    }),
  }),
  rewards: { tips: ({ events }) => events.length },
})

describe('an episode with published events', () => {
  it('is sealed with its events, and replays without differences or options', async () => {
    const sealed = await record([[price(7), price(8)], [], [price(9)], [{ type: 'closed' }]])
    expect(sealed.outcome).toEqual({ kind: 'finished', end: { kind: 'terminated', reason: 'closed' } })
    expect(sealed.steps.map(({ events }) => events?.map(({ type, said }) => [type, said]))).toEqual([
      [
        ['price-changed', 'Now 7.'],
        ['price-changed', 'Now 8.'],
      ],
      undefined,
      [['price-changed', 'Now 9.']],
      [['closed', null]],
    ])
    expect(sealed.steps.map(({ refused }) => refused)).toEqual([null, null, null, 'ended'])
    expect(sealed.steps[3]).not.toHaveProperty('prepared')
    expect(sealed.returns).toEqual({ total: 7, unshaped: 7, discounted: 7 })
    const before = timesAsked()
    for (const strict of [true, false])
      expect(replayEpisode(environment, asRead(sealed), { strict, scoring: PLAIN })).toEqual({
        kind: 'reproduced',
        steps: 4,
      })
    expect(timesAsked()).toBe(before)
  })

  it('replays any events at any time', async () => {
    const any = fc.array(fc.oneof(fc.integer({ min: 1, max: 99 }).map(price)), { maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(fc.array(any, { maxLength: 6 }), fc.nat({ max: 8 }), async (events, closing) => {
        const all = events.map((before, i) => (i === closing ? [...before, { type: 'closed' }] : before))
        const sealed = await record(all)
        const { kind, steps } = replayEpisode(environment, asRead(sealed), { strict: true, scoring: PLAIN })
        expect({ kind, steps }).toEqual({ kind: 'reproduced', steps: sealed.steps.length })
      }),
      { numRuns: 50 },
    )
  })

  it('of several seats is sealed with what each seat was sent, and replays so', async () => {
    await using host = createHost({ environments: [dealers] })
    await using connection = await connect(inProcess(host))
    const game = connection.game('dealers')
    const tipped = definePolicy({
      name: 'tipped',
      start: () => async () => {
        await game.publish({ type: 'tip', data: { to: 'bob', price: 7 } })
        return { tool: 'buy', arguments: {} }
      },
    })
    const match = await runMatch({ createGame: () => game, policies: { ann: tipped, bob: buyer } })
    const task = { ...TASK, environment: { name: 'dealers', version: '1.0.0' } }
    const policies = { ann: SEALING.policy, bob: SEALING.policy }
    const sealed = sealEpisode(match, { task, attempt: 0 }, { ...SEALING, weights: {}, policies })
    const read = parseLine(JSON.parse(JSON.stringify(sealed))) as MatchRecord
    expect(read.steps.map(({ events }) => events?.map(({ said, sent }) => ({ said, sent })))).toEqual([
      [{ said: 'A tip goes round.', sent: { bob: ['It is worth 7.'] } }],
      undefined,
    ])
    expect(replayEpisode(dealers, { record: read, whole: true }, { strict: true, scoring: PLAIN })).toEqual({
      kind: 'reproduced',
      steps: 2,
    })
    const shown = ['ann', 'bob'].map((seat) =>
      seatRecordOf(read, seat).steps.map(({ observation }) => observation.text),
    )
    expect(shown).toEqual([['A tip goes round.\nBought.\nYou know of no price.'], ['Bought.']])
    const sentToOther = read.steps.map(({ events, ...step }) => ({
      ...step,
      ...(events && { events: events.map((event) => ({ ...event, sent: { ann: ['It is worth 7.'] } })) }),
    }))
    const edited = { record: { ...read, steps: sentToOther }, whole: true }
    expect(replayEpisode(dealers, edited, { strict: false, scoring: PLAIN })).toMatchObject({
      kind: 'diverged',
      divergence: { step: 1, field: expect.stringMatching(/^events\.0\.sent/) },
    })
  })

  it.each([
    ['the data of an event', { events: [{ ...EVENT(), data: { price: 99 } }] }, 'events.0.said'],
    ['the text of an event', { events: [{ ...EVENT(), said: 'Now 99.' }] }, 'events.0.said'],
    ['the events, by removing one', { events: undefined }, 'observation.text'],
    ['the prepared values', { prepared: { fee: 1_000_000 } }, 'observation.text'],
  ] as const)('finds a line that changes %s', async (_, change, field) => {
    const { chain, ...sealed } = await record([[price(7)]])
    const edited = { ...sealed, steps: sealed.steps.map((step, i) => (i === 0 ? { ...step, ...change } : step)) }
    const read = asRead({ ...edited, chain })
    expect(read.whole).toBe(false)
    const remade = { ...edited, chain: chainOf(edited) }
    for (const { recorded, cause } of [
      { recorded: read, cause: 'edited' },
      { recorded: asRead(remade), cause: 'world-changed' },
    ])
      expect(replayEpisode(environment, recorded, { strict: false, scoring: PLAIN })).toMatchObject({
        kind: 'diverged',
        divergence: { step: 1, field, cause },
      })
  })

  it('replays each leaf of a tree, with the old seed before the fork and the new one after it', async () => {
    const market = await openMarket([])
    const trunk: Environment = Object.assign(delegate(market, {}), {
      async fork(...args: Parameters<Environment['fork']>) {
        await market.publish(price(42))
        const forks = await market.fork(...args)
        for (const fork of forks) await fork.publish(price(43))
        return forks
      },
    })
    const leaves = await runTree({
      createEnvironment: () => trunk,
      policy: buyer,
      seed: 'seed',
      points: [{ at: 2, lines: 3 }],
      branchSeed: 'branch',
    })
    const sealed = leaves.map(({ episode, path, at, seeds }) => {
      const branch = { rollout: 0, leaves: 3, copies: 1, path, at, seeds }
      return sealEpisode(episode, { task: TASK, attempt: 0 }, { ...SEALING, branch })
    })
    const came = sealed.map(({ steps }) => steps[2]?.events?.map(({ data, inherited }) => [data.price, inherited]))
    const forked = [
      [42, true],
      [43, undefined],
    ]
    expect(came).toEqual([[[42, undefined]], forked, forked])
    for (const record of sealed)
      expect(replayEpisode(environment, asRead(record), { strict: true, scoring: PLAIN })).toEqual({
        kind: 'reproduced',
        steps: 6,
      })
  })

  it('is replayed by the command, which prints the events between the steps', async () => {
    using workshop = openWorkshop()
    const sealed = await record([[price(7)], [], [{ type: 'closed' }]])
    writeFileSync(join(workshop.folder, 'episodes.jsonl'), `${JSON.stringify(sealed)}\n`)
    const replayed = await workshop.main(['replay', 'episodes.jsonl', '--world', WORLD, '--json'])
    expect(replayed).toMatchObject({ status: 0 })
    expect(JSON.parse(replayed.out)).toMatchObject({ episodes: 1, replayed: 1, diverged: 0, steps: 3 })
    const traced = await workshop.main(['replay', 'episodes.jsonl', '--world', WORLD, '--task', 'task'])
    expect(traced.out).toMatch(
      /^\* {2}price-changed \{"price":7\}\n {5}Now 7\.\n1 {2}buy \{\}\n {5}prepared \{"fee":\d+\}\n/m,
    )
    expect(traced.out).toContain('refused by ended')
  })
})

function EVENT() {
  return { id: 'event-1', type: 'price-changed', data: { price: 7 }, said: 'Now 7.', end: null }
}
