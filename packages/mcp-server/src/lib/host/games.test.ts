import type { LimitsRequest, OpenResult } from '@episodic/protocol'
import { createManualClock } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineGame } from '../environment/definition/define-game.ts'
import type { EnvironmentDefinition } from '../environment/definition/environment.ts'
import { atControl } from '../fixtures/addressed.fixture.ts'
import { kuhn } from '../fixtures/kuhn.fixture.ts'
import { asking, createTestHost, freshKey } from '../fixtures/testbed.fixture.ts'
import { throwingHands } from '../fixtures/throwing-hands.fixture.ts'
import type { Host } from './host.ts'

const createGameHost = () => createTestHost({ environments: [kuhn, throwingHands], store: createMemoryStore() })

const openKuhn = (host: Host, seed = 'cards') => host.open(null, asking({ environment: 'kuhn-poker', seed }))
const openHands = (host: Host, rounds: number) =>
  host.open(null, asking({ environment: 'rock-paper-scissors', params: { rounds } }))

const act = (host: Host, { session }: OpenResult, seat: string, seq: number, move: string) =>
  atControl(host, session).step({ action: { tool: 'act', arguments: { move } }, seat, seq })
const throws = (host: Host, { session }: OpenResult, seat: string, seq: number, hand: string) =>
  atControl(host, session).step({ action: { tool: 'throw', arguments: { hand } }, seat, seq })
const turn = (host: Host, { session }: OpenResult, seat: string, wait = 0) =>
  atControl(host, session).turn({ seat, wait })

describe('a session of several seats', () => {
  it('opens with a capability, a view and a seq for each seat, and says who may act', async () => {
    const { host } = createGameHost()
    const opened = await openKuhn(host)
    expect(opened).toMatchObject({ turn: ['first'], potential: null })
    const { first, second } = opened.seats
    expect(first).toMatchObject({ seq: 0, observation: { structured: { seat: 'first', turn: ['first'] } } })
    expect(second).toMatchObject({ seq: 0, observation: { structured: { seat: 'second' } } })
    expect(first?.capability).not.toBe(second?.capability)
    expect(host.environments[0]?.seats).toEqual([
      { name: 'first', tools: ['act'] },
      { name: 'second', tools: ['act'] },
    ])
  })

  it('lists what a seat sees as data, and which tools are sealed', () => {
    const [poker, hands] = createGameHost().host.environments
    expect(poker?.viewSchema).toMatchObject({
      properties: { turn: { uniqueItems: true, items: { enum: ['first', 'second'] } }, moves: { maxLength: 3 } },
    })
    expect(poker?.tools.map(({ sealed }) => sealed)).toEqual([undefined])
    expect(hands?.tools.map(({ sealed }) => sealed)).toEqual([true])
  })

  it.each([
    [undefined, 'The request names no seat. The seats are: first, second.'],
    ['third', 'There is no seat "third" in this session. The seats are: first, second.'],
  ])('rejects a step of the seat %s', async (seat, message) => {
    const { host } = createGameHost()
    const { session } = await openKuhn(host)
    const step = atControl(host, session).step({ action: { tool: 'act', arguments: { move: 'bet' } }, seat, seq: 0 })
    await expect(step).rejects.toMatchObject({ code: 'invalid-params', message })
  })

  it('reports what was due to a seat in the answer to its next step, once', async () => {
    const { host } = createGameHost()
    const opened = await openHands(host, 2)
    await throws(host, opened, 'player_0', 0, 'paper')
    const settled = await throws(host, opened, 'player_1', 0, 'rock')
    expect(settled.step.report).toMatchObject({ terms: { round: -1 }, seats: { terms: { player_0: { round: 1 } } } })
    const next = await throws(host, opened, 'player_0', 1, 'paper')
    expect(next.step.report.seats).toMatchObject({ due: { round: 1 }, sealed: true })
    expect(await throws(host, opened, 'player_0', 1, 'paper')).toMatchObject({ step: next.step, replayed: true })
    expect((await turn(host, opened, 'player_0')).due).toEqual({})
  })

  it('is listed with the steps and the end of each seat, and who may act', async () => {
    const { host } = createGameHost()
    const opened = await openKuhn(host)
    const listed = async () => (await host.list({ limit: 1 })).sessions[0]
    await act(host, opened, 'first', 0, 'bet')
    const [open, none] = [
      { steps: 1, end: null },
      { steps: 0, end: null },
    ]
    expect(await listed()).toMatchObject({ steps: 1, seats: { first: open, second: none }, turn: ['second'] })
    await act(host, opened, 'second', 0, 'pass')
    const over = { steps: 1, end: { kind: 'terminated', reason: 'fold' } }
    expect(await listed()).toMatchObject({ steps: 2, seats: { first: over, second: over }, turn: [] })
  })

  it('lists the legal actions of a seat in turn, and none of others', async () => {
    const { host } = createGameHost()
    const { session } = await openKuhn(host)
    expect(Object.keys(await atControl(host, session).legal('first'))).toEqual(['act'])
    expect(await atControl(host, session).legal('second')).toEqual({})
  })
})

describe('a fork of a session of several seats', () => {
  it('goes on in the middle of a round, with the move that is sealed', async () => {
    const { host } = createGameHost()
    const opened = await openHands(host, 1)
    await throws(host, opened, 'player_0', 0, 'paper')
    const [fork] = await atControl(host, opened.session).fork({ requestKey: freshKey() })
    expect(fork).toMatchObject({ turn: ['player_1'], seats: { player_0: { seq: 1 }, player_1: { seq: 0 } } })
    const settled = await throws(host, fork as OpenResult, 'player_1', 0, 'scissors')
    expect(settled.step.report).toMatchObject({ terms: { round: 1 }, end: { reason: 'played' } })
    expect(await turn(host, opened, 'player_1')).toMatchObject({ mine: true, end: null })
  })

  it('is restored from a snapshot with the turn and what is due, and from no other', async () => {
    const { host } = createGameHost()
    const opened = await openHands(host, 3)
    await throws(host, opened, 'player_0', 0, 'paper')
    await throws(host, opened, 'player_1', 0, 'rock')
    await throws(host, opened, 'player_1', 1, 'rock')
    const snapshot = await atControl(host, opened.session).snapshot({})
    expect(snapshot).toMatchObject({ turn: ['player_0'], seats: { player_0: { seq: 1, due: { round: 1 } } } })
    const restored = await host.restore(null, { snapshot, requestKey: freshKey() })
    expect(await turn(host, restored, 'player_0')).toMatchObject({ mine: true, due: { round: 1 } })
    const restore = (changes: object) =>
      host.restore(null, { snapshot: { ...snapshot, ...changes }, requestKey: freshKey() })
    await expect(restore({ turn: ['nobody'] })).rejects.toThrow('snapshot.turn is ["nobody"]')
    await expect(restore({ turn: undefined })).rejects.toThrow('snapshot.turn is undefined')
    await expect(restore({ seats: { player_0: { seq: 1 } } })).rejects.toThrow('snapshot.seats names player_0')
    const state = { ...snapshot.state, own: { player_0: { hand: 'paper' } } }
    await expect(restore({ state })).rejects.toThrow('snapshot.state.own names player_0')
  })
})

describe('a seat handle', () => {
  const stepAt = (host: Host, handle: string, seq: number, tool: string, args: object, seat?: string) =>
    atControl(host, handle).step({ action: { tool, arguments: args as never }, seat, seq })
  const handleOf = ({ seats }: OpenResult, seat: string) => seats[seat]?.handle as string

  it('steps its own seat, and sees nothing of the others', async () => {
    const { host } = createGameHost()
    const opened = await openKuhn(host)
    const bet = await stepAt(host, handleOf(opened, 'first'), 0, 'act', { move: 'bet' })
    expect(bet.step.report).toMatchObject({
      seq: 1,
      stateHash: '',
      terms: { chips: 0 },
      seats: { turn: [], views: {} },
    })
    const folded = await stepAt(host, handleOf(opened, 'second'), 0, 'act', { move: 'pass' })
    const ends = { second: { kind: 'terminated', reason: 'fold' } }
    expect(folded.step.report.seats).toEqual({ turn: [], ends, views: {} })
    const first = await atControl(host, handleOf(opened, 'first')).turn({ seat: 'first', wait: 0 })
    expect(first).toMatchObject({ mine: false, due: { chips: 1 }, end: { reason: 'fold' } })
    const { own } = (opened.seats.second as OpenResult['seats'][string]).observation.structured as {
      own: { card: string }
    }
    expect(JSON.stringify([bet.step, first])).not.toContain(`"${own.card}"`)
  })

  it('plays no other seat, and reads, watches, forks and closes nothing', async () => {
    const { host } = createGameHost()
    const opened = await openKuhn(host)
    const handle = handleOf(opened, 'first')
    const session = atControl(host, handle)
    const calls = [
      stepAt(host, handle, 0, 'act', { move: 'bet' }, 'second'),
      session.turn({ seat: 'second', wait: 0 }),
      session.legal('second'),
      session.state(),
      session.watch({ after: 0, limit: 1, wait: 0 }),
      session.snapshot({}),
      session.fork({ requestKey: freshKey() }),
      session.close(),
    ]
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'unauthorized' })
    expect((await atControl(host, opened.session).state()).revision).toBe(0)
  })

  it('is good at the trainer endpoint alone, and for no session with one seat', async () => {
    const { host } = createGameHost()
    const opened = await openKuhn(host)
    const handle = handleOf(opened, 'first')
    const forged = `${handle.slice(0, -1)}${handle.endsWith('A') ? 'B' : 'A'}`
    for (const [by, token] of [
      ['capability', handle],
      ['control', forged],
      ['control', opened.seats.first?.capability as string],
    ] as const)
      await expect(async () => (await host.resolve(null, { by, token })).view()).rejects.toMatchObject({
        code: 'session-not-found',
      })
  })
})

/** Two seats in turn; who does not act loses a life, and the episode at the third time. */
const latecomers = (limits: LimitsRequest) =>
  defineGame({
    name: 'latecomers',
    version: '1.0.0',
    description: 'Act in time.',
    seats: ['a', 'b'],
    limits,
    state: {
      public: z.object({ next: z.enum(['a', 'b']), lives: z.object({ a: z.int(), b: z.int() }) }),
      own: z.object({}),
      private: z.object({}),
    },
    start: () => ({ public: { next: 'a', lives: { a: 2, b: 2 } }, own: { a: {}, b: {} }, private: {} }),
    turn: ({ next }) => next,
    observe: ({ public: { lives } }) => `Lives: ${lives.a} and ${lives.b}.`,
    tools: ({ tool }) => ({
      pass: tool({
        description: 'Pass the turn.',
        input: z.object({}),
        play({ seat, state, say }) {
          state.public.next = seat === 'a' ? 'b' : 'a'
          return say('Passed.')
        },
      }),
    }),
    absent({ seat, state, end }) {
      state.public.lives[seat] -= 1
      state.public.next = seat === 'a' ? 'b' : 'a'
      if (state.public.lives[seat] === 0) end('forfeit')
    },
    rewards: { kept: ({ seat, moved }) => (moved.includes(seat) ? 1 : 0) },
  })

/** Three seats bid at once, once; who does not bid in time bids nothing. */
const auction = defineGame({
  name: 'auction',
  version: '1.0.0',
  description: 'Bid once.',
  seats: ['a', 'b', 'c'],
  state: {
    public: z.object({ bids: z.array(z.int()) }),
    own: z.object({ bid: z.int() }),
    private: z.object({}),
  },
  start: () => ({ public: { bids: [] }, own: { a: { bid: 0 }, b: { bid: 0 }, c: { bid: 0 } }, private: {} }),
  turn: () => ['a', 'b', 'c'],
  observe: ({ public: { bids } }) => `Bids: ${bids.join(', ') || 'none'}.`,
  tools: ({ sealed }) => ({
    bid: sealed({
      description: 'Bid.',
      input: z.object({ amount: z.int().min(1) }),
      play({ own, input }) {
        own.bid = input.amount
      },
    }),
  }),
  settle({ state: { own, ...state }, moved, end }) {
    state.public.bids = (['a', 'b', 'c'] as const).map((seat) => (moved.includes(seat) ? own[seat].bid : 0))
    end('sold')
  },
  absent() {},
  rewards: { paid: ({ seat, moved, after }) => (moved.includes(seat) ? -after.own[seat].bid : 0) },
})

describe('a seat that does not act', () => {
  const openLatecomers = async (limits: LimitsRequest) => {
    const testbed = createTestHost({ environments: [latecomers(limits)] })
    const opened = await testbed.host.open(null, asking({ environment: 'latecomers' }))
    return { ...testbed, opened, session: atControl(testbed.host, opened.session) }
  }
  const pass = (seat: string, seq: number) => ({ action: { tool: 'pass', arguments: {} }, seat, seq })

  it('truncates the episode for all when its time is over, unless the rules say otherwise', async () => {
    const { host, clock } = createTestHost({ environments: [kuhn] })
    const opened = await host.open(null, asking({ environment: 'kuhn-poker', limits: { turnSeconds: 10 } }))
    clock.advance(9_000)
    expect(await turn(host, opened, 'second')).toMatchObject({ mine: false, end: null })
    clock.advance(1_000)
    const end = { kind: 'truncated', reason: 'turn-limit' }
    expect(await turn(host, opened, 'second')).toMatchObject({ turn: [], end })
    await expect(act(host, opened, 'first', 0, 'bet')).rejects.toMatchObject({ code: 'seq-reused' })
    await expect(act(host, opened, 'first', 1, 'bet')).rejects.toMatchObject({ code: 'episode-ended' })
  })

  it('loses what the rules say, in a step that is in the log and is replayed by forks', async () => {
    const { host, opened, session, clock } = await openLatecomers({ turnSeconds: 10 })
    clock.advance(10_000)
    expect(await turn(host, opened, 'b')).toMatchObject({ mine: true, observation: { text: 'Lives: 1 and 2.' } })
    expect((await session.step(pass('b', 0))).step.report).toMatchObject({ revision: 2, terms: { kept: 1 } })
    clock.advance(5_000)
    expect((await session.step(pass('a', 1))).step.report.revision).toBe(3)
    clock.advance(9_000)
    await session.step(pass('b', 1))
    clock.advance(10_000)
    expect(await turn(host, opened, 'b')).toMatchObject({ end: { kind: 'terminated', reason: 'forfeit' } })
    const { steps } = await session.watch({ after: 0, limit: 10, wait: 0 })
    expect(steps.map(({ seat, action }) => [seat, action.tool])).toEqual([
      ['a', 'absent'],
      ['b', 'pass'],
      ['a', 'pass'],
      ['b', 'pass'],
      ['a', 'absent'],
    ])
    const [fork] = await session.fork({ requestKey: freshKey(), at: 2 })
    expect(fork).toMatchObject({ turn: ['a'], seats: { a: { seq: 1 }, b: { seq: 1 } } })
  })

  it('is out when it has no steps left and would have to act again', async () => {
    const { host, opened, session } = await openLatecomers({ steps: 1 })
    await session.step(pass('a', 0))
    expect((await session.step(pass('b', 0))).step.report.end).toBeNull()
    // Only now the server finds that seat a has no steps left: the rules take a life of it and go on.
    const after = await turn(host, opened, 'b')
    expect(after.observation.text).toBe('Lives: 1 and 1.')
    expect(after).toMatchObject({ end: { kind: 'terminated', reason: 'step-limit' } })
    expect((await session.state()).end).toEqual({ kind: 'terminated', reason: 'all-left' })
  })

  it('has made no move in a round of sealed ones, which is played when the others have moved', async () => {
    const { host, clock } = createTestHost({ environments: [auction] })
    const opened = await host.open(null, asking({ environment: 'auction', limits: { turnSeconds: 10 } }))
    const session = atControl(host, opened.session)
    const bid = (seat: string, amount: number) =>
      session.step({ action: { tool: 'bid', arguments: { amount } }, seat, seq: 0 })
    await bid('b', 5)
    clock.advance(10_000)
    // Seat a is absent, and the round goes on for c: b, whose bid is sealed, is not asked again.
    expect(await turn(host, opened, 'c')).toMatchObject({ mine: true, turn: ['c'], end: null })
    await bid('c', 7)
    expect((await session.state()).state.public).toEqual({ bids: [0, 5, 7] })
    const again = await host.open(null, asking({ environment: 'auction', limits: { turnSeconds: 10 } }))
    const second = atControl(host, again.session)
    await second.step({ action: { tool: 'bid', arguments: { amount: 3 } }, seat: 'a', seq: 0 })
    await second.step({ action: { tool: 'bid', arguments: { amount: 4 } }, seat: 'b', seq: 0 })
    clock.advance(10_000)
    // Nobody else is waited for: the round is played without a bid of c.
    expect(await turn(host, again, 'a')).toMatchObject({ end: { reason: 'sold' }, due: { paid: -3 } })
    expect((await second.state()).state.public).toEqual({ bids: [3, 4, 0] })
  })

  it('can be said to have left, if the rules know what that means', async () => {
    const { session } = await openLatecomers({})
    await expect(session.leave('b')).rejects.toMatchObject({ code: 'not-your-turn' })
    expect(await session.leave('a')).toMatchObject({ end: { kind: 'terminated', reason: 'left' } })
    const { host } = createGameHost()
    const without = atControl(host, (await openKuhn(host)).session)
    await expect(without.leave('first')).rejects.toThrow('kuhn-poker has no rules for a seat that leaves')
  })

  it('is not taken for absent because a player calls a tool of that name', async () => {
    const { session } = await openLatecomers({})
    const call = { action: { tool: 'absent', arguments: { cause: 'left' } }, seat: 'a', seq: 0 }
    expect((await session.step(call)).step).toMatchObject({
      action: { tool: 'absent', arguments: {} },
      report: { refused: 'tool', end: null },
    })
  })
})

/** Both seats may act at any time. */
const bell = defineGame({
  name: 'bell',
  version: '1.0.0',
  description: 'Ring, whenever you like.',
  seats: ['a', 'b'],
  limits: { turnSeconds: 10 },
  state: { public: z.object({ rung: z.string(), absent: z.string() }), own: z.object({}), private: z.object({}) },
  start: () => ({ public: { rung: '', absent: '' }, own: { a: {}, b: {} }, private: {} }),
  turn: () => ['a', 'b'],
  observe: ({ public: { rung } }) => `Rung: ${rung || 'never'}.`,
  tools: ({ tool }) => ({
    ring: tool({
      description: 'Ring.',
      input: z.object({}),
      play({ seat, state, say }) {
        state.public.rung += seat
        return say('Ding.')
      },
    }),
  }),
  absent({ seat, state }) {
    state.public.absent += seat
  },
  rewards: {},
})

describe('a session of several seats on two hosts with one store', () => {
  /** A session, as each host resolves it. */
  const openTwice = async (environment: EnvironmentDefinition) => {
    const [clock, store] = [createManualClock(1_700_000_000_000), createMemoryStore()]
    const hosts = [1, 2].map(() => createTestHost({ environments: [environment], clock, store }).host)
    const [one, other] = hosts as [Host, Host]
    const { session } = await one.open(null, asking({ environment: environment.name }))
    return { clock, one: atControl(one, session), other: atControl(other, session) }
  }
  const call = (tool: string, seat: string, seq: number) => ({ action: { tool, arguments: {} }, seat, seq })

  it('does not lose a turn that began anew by a move at the other host', async () => {
    const { clock, one, other } = await openTwice(bell)
    clock.advance(6_000)
    await other.step(call('ring', 'b', 0))
    clock.advance(6_000)
    // This host has seen no move for 12 seconds; the last one is 6 seconds old.
    await one.step(call('ring', 'a', 0))
    clock.advance(6_000)
    await other.step(call('ring', 'b', 1))
    clock.advance(5_000)
    await one.step(call('ring', 'a', 1))
    expect((await one.state()).state.public).toEqual({ rung: 'baba', absent: '' })
    clock.advance(10_000)
    await other.step(call('ring', 'b', 2))
    expect((await one.state()).state.public).toEqual({ rung: 'babab', absent: 'a' })
  })

  it('is played by no seat that has no steps left, whichever host it asks', async () => {
    const { one, other } = await openTwice(latecomers({ steps: 1 }))
    await one.step(call('pass', 'a', 0))
    await other.step(call('pass', 'b', 0))
    await expect(one.step(call('pass', 'a', 1))).rejects.toMatchObject({ code: 'seq-reused' })
    expect(await other.turn({ seat: 'a', wait: 0 })).toMatchObject({ seq: 2, end: { reason: 'step-limit' } })
  })
})
