import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { kuhn } from '../../fixtures/kuhn.fixture.ts'
import { throwingHands } from '../../fixtures/throwing-hands.fixture.ts'
import { rehearse } from '../rehearse/rehearse.ts'
import { defineGame } from './define-game.ts'
import type { EnvironmentDefinition } from './environment.ts'

/** A table of three that anyone may act at, at any time, and leave. */
const table = defineGame({
  name: 'open-table',
  version: '1.0.0',
  description: 'Three seats take from one pile at any time, talk, and leave.',
  seats: ['ann', 'bob', 'cid'],
  params: z.object({ seats: z.int().min(1).max(3).default(3) }),
  present: ({ seats }) => (['ann', 'bob', 'cid'] as const).slice(0, seats),
  state: {
    public: z.object({ pile: z.int() }),
    own: z.object({ taken: z.int() }),
    private: z.object({ secret: z.string() }),
  },
  start: () => ({
    public: { pile: 10 },
    own: { ann: { taken: 0 }, bob: { taken: 0 }, cid: { taken: 0 } },
    private: { secret: 'a secret of the table' },
  }),
  turn: () => ['ann', 'bob', 'cid'],
  observe: ({ seat, public: { pile }, own }) => `${seat} took ${own.taken}, and ${pile} are left.`,
  tools: ({ tool }) => ({
    take: tool({
      description: 'Takes from the pile.',
      input: z.object({ count: z.int().min(1) }),
      play({ seat, state, input, say, refuse, send, end }) {
        if (input.count > state.public.pile) return refuse('There are not as many.')
        state.public.pile -= input.count
        state.own[seat].taken += input.count
        send('others', `${seat} took ${input.count}.`)
        if (state.public.pile === 0) end('empty')
        return say('Taken.')
      },
    }),
    leave: tool({
      description: 'Leaves the table.',
      input: z.object({}),
      play({ seat, leave, say }) {
        leave(seat, 'left')
        return say('Goodbye.')
      },
    }),
    cheat: tool({
      seats: ['cid'],
      description: 'Puts one back.',
      input: z.object({}),
      play({ state, say }) {
        state.public.pile += 1
        return say('Done.')
      },
    }),
  }),
  rewards: {
    taken: ({ seat, before, after }) => after.own[seat].taken - before.own[seat].taken,
    won: ({ seat, after, end }) =>
      end?.kind === 'terminated' && end.reason === 'empty' && after.own[seat].taken > 4 ? 1 : 0,
  },
  potential: ({ own }, _, seat) => own[seat].taken,
  success: ({ seat, state }) => state.own[seat].taken > 4,
})

describe('a game of hidden cards', () => {
  it('says how the rewards of its seats are related', () => {
    expect([kuhn, table].map(({ utility }) => utility)).toEqual(['zero-sum', 'general'])
  })

  it('shows each seat its own card and whose turn it is, and nothing else', () => {
    const game = rehearse(kuhn, { seed: 'cards', strict: true })
    const { first, second } = game.state.own as { first: { card: string }; second: { card: string } }
    expect(game.observe('first')).toEqual({
      text: `You hold ${first.card}. Moves so far: none.`,
      structured: { seat: 'first', turn: ['first'], moves: '', own: first },
    })
    expect(game.observe('second').structured).toEqual({ seat: 'second', turn: ['first'], moves: '', own: second })
  })

  it('passes the turn, pays both seats in the step that ends it, and shows the end to the other', () => {
    const game = rehearse(kuhn, { strict: true })
    expect(game.turn).toEqual(['first'])
    const opening = game.play('act', { move: 'bet' }, { seat: 'first' })
    expect(opening.terms).toEqual({ chips: 0 })
    expect(opening.seats).toMatchObject({ turn: ['second'], terms: { second: { chips: 0 } } })
    expect(opening.seats?.views.second?.text).toContain('Moves so far: b.')
    const answer = game.play('act', { move: 'pass' }, { seat: 'second' })
    expect(answer.terms).toEqual({ chips: -1 })
    expect(answer.seats).toMatchObject({
      turn: [],
      terms: { first: { chips: 1 } },
      ends: { first: { kind: 'terminated', reason: 'fold' }, second: { kind: 'terminated', reason: 'fold' } },
    })
    expect(game.end).toEqual({ kind: 'terminated', reason: 'fold' })
    expect(game.turn).toEqual([])
  })

  it('marks what a showdown reveals as meant for all', () => {
    const game = rehearse(kuhn, { strict: true })
    game.play('act', { move: 'pass' }, { seat: 'first' })
    const showdown = game.play('act', { move: 'pass' }, { seat: 'second' })
    expect(showdown.revealedTo).toEqual([null, null])
  })

  it('adds up to zero however it is played', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.array(fc.constantFrom('pass', 'bet'), { minLength: 3, maxLength: 3 }),
        (seed, moves) => {
          const game = rehearse(kuhn, { seed, strict: true })
          let sum = 0
          for (const move of moves) {
            const [seat] = game.turn
            if (seat === undefined) break
            const { terms, seats } = game.play('act', { move }, { seat })
            sum += Object.values(seats?.terms ?? {}).reduce(
              (all, term) => all + (term.chips as number),
              terms.chips as number,
            )
          }
          expect(sum).toBe(0)
          expect(game.end).not.toBeNull()
        },
      ),
    )
  })
})

describe('a game of moves at once', () => {
  it('keeps the first move sealed: nothing that others see changes', () => {
    const game = rehearse(throwingHands, { strict: true })
    const before = game.observe('player_1')
    const sealed = game.play('throw', { hand: 'rock' }, { seat: 'player_0' })
    expect(sealed.seats).toMatchObject({ sealed: true, turn: ['player_1'], views: {} })
    expect(sealed.observation.text).toContain('sealed')
    expect(sealed.terms).toEqual({ round: 0 })
    expect(game.observe('player_1')).toEqual(before)
    expect(() => game.play('throw', { hand: 'paper' }, { seat: 'player_0' })).toThrow('turn of player_1')
  })

  it('has the same state and rewards in every order of moves', () => {
    const hands = fc.constantFrom('rock', 'paper', 'scissors')
    fc.assert(
      fc.property(fc.array(fc.tuple(hands, hands, fc.boolean()), { minLength: 1, maxLength: 5 }), (rounds) => {
        const play = (swap: boolean) => {
          const game = rehearse(throwingHands, { params: { rounds: rounds.length }, strict: true })
          const earned = { player_0: 0, player_1: 0 }
          for (const [first, second, swapped] of rounds) {
            const order = [
              { seat: 'player_0' as const, hand: first },
              { seat: 'player_1' as const, hand: second },
            ]
            for (const { seat, hand } of swapped === swap ? order.reverse() : order) {
              const { terms, seats } = game.play('throw', { hand }, { seat })
              earned[seat] += terms.round as number
              for (const [other, { round }] of Object.entries(seats?.terms ?? {}))
                earned[other as typeof seat] += round as number
            }
          }
          return { state: game.state, end: game.end, earned, sum: earned.player_0 + earned.player_1 }
        }
        expect(play(true)).toEqual(play(false))
        expect(play(true).sum).toBe(0)
      }),
    )
  })
})

describe('a game without turns', () => {
  it('gives reward terms the call that led to the step, and none for a round of sealed moves', () => {
    const seen: unknown[] = []
    const noting = defineGame({
      name: 'noting',
      version: '1.0.0',
      description: 'Notes what a reward term is given.',
      seats: ['a', 'b'],
      state: { public: z.object({ sealing: z.boolean() }), own: z.object({}), private: z.object({}) },
      start: () => ({ public: { sealing: false }, own: { a: {}, b: {} }, private: {} }),
      turn: ({ sealing }) => (sealing ? ['a', 'b'] : 'a'),
      observe: () => '',
      tools: ({ tool, sealed }) => ({
        write: tool({
          description: '',
          input: z.object({ text: z.string() }),
          play({ state, say }) {
            state.public.sealing = true
            return say('')
          },
        }),
        bid: sealed({ description: '', input: z.object({ coins: z.int() }), play: () => undefined }),
      }),
      settle({ state }) {
        state.public.sealing = false
      },
      rewards: {
        noted({ seat, tool, input, moved, refused }) {
          seen.push({ seat, tool, input, moved, refused })
          return 0
        },
      },
    })
    const game = rehearse<EnvironmentDefinition>(noting)
    game.play('write', { text: 'A word.' }, { seat: 'a' })
    game.play('bid', { coins: 1 }, { seat: 'b' })
    game.play('bid', { coins: 2 }, { seat: 'a' })
    game.play('wirte', {}, { seat: 'a' })
    const call = { tool: 'write', input: { text: 'A word.' }, moved: ['a'], refused: null }
    const round = { tool: null, input: null, moved: ['a', 'b'], refused: null }
    const misspelt = { tool: 'wirte', input: {}, moved: ['a'], refused: 'tool' }
    const expected = [call, round, misspelt].flatMap((step) => ['a', 'b'].map((seat) => ({ seat, ...step })))
    expect(seen.toSorted(bySeatAndTool)).toEqual(expected.toSorted(bySeatAndTool))
  })

  it('goes on for the others when a seat leaves, and rewards only who plays', () => {
    const game = rehearse(table, { strict: true })
    const left = game.play('leave', {}, { seat: 'bob' })
    expect(left.end).toBeNull()
    expect(left.seats).toMatchObject({
      turn: ['ann', 'cid'],
      ends: { bob: { reason: 'left' } },
      successes: { bob: false },
    })
    const taken = game.play('take', { count: 5 }, { seat: 'ann' })
    expect(taken.terms).toEqual({ taken: 5, won: 0 })
    expect(Object.keys(taken.seats?.terms ?? {})).toEqual(['cid'])
    expect(taken.potential).toBe(5)
  })

  it('is over when all have left', () => {
    const game = rehearse(table, { params: { seats: 2 }, strict: true })
    // `turn` names three, and nobody waits for the one that does not play.
    expect(game.turn).toEqual(['ann', 'bob'])
    game.play('leave', {}, { seat: 'ann' })
    const last = game.play('leave', {}, { seat: 'bob' })
    expect(last.seats?.ends).toEqual({ bob: { kind: 'terminated', reason: 'left' } })
    expect(game.end).toEqual({ kind: 'terminated', reason: 'all-left' })
  })

  it('does not start if nobody who plays is in turn', () => {
    const absent: typeof table = { ...table, turn: () => ['cid'] }
    expect(() => rehearse(absent, { params: { seats: 2 } })).toThrow('no seat that plays is in turn')
  })

  it('ends for all with one reason, and says who succeeded', () => {
    const game = rehearse(table, { strict: true })
    game.play('take', { count: 6 }, { seat: 'ann' })
    const last = game.play('take', { count: 4 }, { seat: 'cid' })
    expect(last).toMatchObject({ success: false, terms: { taken: 4, won: 0 } })
    expect(last.seats).toMatchObject({
      terms: { ann: { won: 1 }, bob: { won: 0 } },
      successes: { ann: true, bob: false, cid: false },
    })
  })

  it('gives a tool to the seats that have it, and lists those in the refusal of others', () => {
    const game = rehearse(table, { strict: true })
    expect(game.play('cheat', {}, { seat: 'ann' })).toMatchObject({
      refused: 'tool',
      observation: { text: expect.stringContaining('There is no tool "cheat". The tools are: take, leave.') },
    })
    expect(game.play('cheat', {}, { seat: 'cid' }).refused).toBeNull()
  })

  it('keeps the last steps of its seats for the rules, if it asks for a history', () => {
    const chat = defineGame({
      name: 'chat',
      version: '1.0.0',
      description: 'Two seats talk in turns.',
      seats: ['ann', 'bob'],
      history: { entries: 2, bytes: 10_000 },
      state: { public: z.object({ turn_of: z.enum(['ann', 'bob']) }), own: z.object({}), private: z.object({}) },
      start: () => ({ public: { turn_of: 'ann' }, own: { ann: {}, bob: {} }, private: {} }),
      turn: ({ turn_of }) => turn_of,
      observe: () => 'Talk.',
      tools: ({ tool }) => ({
        talk: tool({
          description: 'Talks.',
          input: z.object({ text: z.string() }),
          play({ others: [other], history, state, input, say }) {
            if (other) state.public.turn_of = other
            return say(`${input.text} after ${JSON.stringify(history.map(({ seat, said }) => [seat, said]))}`)
          },
        }),
      }),
      rewards: { none: () => 0 },
    })
    const world = rehearse(chat)
    const talk = (seat: string, text: string) => world.play('talk', { text }, { seat }).observation.text
    expect(talk('ann', 'a')).toBe('a after []')
    expect(talk('bob', 'b')).toBe('b after [["ann","a after []"]]')
    talk('ann', 'c')
    expect(talk('bob', 'd')).toMatch(/^d after \[\["bob",.*\],\["ann",.*\]\]$/)
  })
})

describe('defineGame', () => {
  const base = {
    name: 'a-game',
    version: '1.0.0',
    description: 'A game.',
    seats: ['a', 'b'],
    state: { public: z.object({}), own: z.object({}), private: z.object({}) },
    start: () => ({ public: {}, own: { a: {}, b: {} }, private: {} }),
    turn: () => 'a',
    observe: () => '',
    tools: ({ tool }: { tool: (definition: object) => never }) => ({
      act: tool({
        description: 'Acts.',
        input: z.object({}),
        play: ({ say }: { say: (text: string) => unknown }) => say(''),
      }),
    }),
    rewards: {},
  }
  const define = (changes: object) => () => defineGame({ ...base, ...changes } as never)

  it.each([
    ['one seat', { seats: ['a'] }, 'it has 1 seats, and a game has 2 to 36'],
    ['two seats of one name', { seats: ['a', 'a'] }, 'two of its seats have the same name'],
    ['a seat with a strange name', { seats: ['a', 'The B'] }, 'its seat "The B" needs a name'],
    [
      'a public state with a field of every view',
      { state: { ...base.state, public: z.object({ turn: z.string() }) } },
      'its public state declares turn',
    ],
    [
      'a tool with the name of one that the server adds',
      {
        tools: ({ tool }: { tool: (definition: object) => never }) => ({
          wait: tool({ description: '', input: z.object({}), play: () => {} }),
        }),
      },
      'its tool wait has the name of a tool that the server adds',
    ],
    [
      'a tool with the name of the one that joins an episode',
      {
        tools: ({ tool }: { tool: (definition: object) => never }) => ({
          join_a_game: tool({ description: '', input: z.object({}), play: () => {} }),
        }),
      },
      'its tool join_a_game has the name of a tool that the server adds; rename it',
    ],
    [
      'sealed tools without settle',
      {
        tools: ({ sealed }: { sealed: (definition: object) => never }) => ({
          act: sealed({ description: '', input: z.object({}), play: () => {} }),
        }),
      },
      'it has sealed tools and no `settle`',
    ],
    ['settle without a sealed tool', { settle: () => {} }, 'it has `settle` and no sealed tool'],
    [
      'a seat without tools',
      {
        tools: ({ tool }: { tool: (definition: object) => never }) => ({
          act: tool({ seats: ['a'], description: '', input: z.object({}), play: () => {} }),
        }),
      },
      'its seat b has no tools',
    ],
    [
      'a tool for a seat that there is not',
      {
        tools: ({ tool }: { tool: (definition: object) => never }) => ({
          act: tool({ seats: ['a', 'b', 'c'], description: '', input: z.object({}), play: () => {} }),
        }),
      },
      'its tool act is for the seat c, and its seats are a, b',
    ],
  ])('rejects %s', (_, changes, message) => {
    expect(define(changes)).toThrow(message)
  })

  it.each([
    ['a turn of nobody', { turn: () => [] }, 'The `turn` of a-game names no seat'],
    ['a turn of a stranger', { turn: () => 'c' }, 'The `turn` of a-game names "c". The seats are: a, b.'],
    [
      'a seat without its part of the state',
      { start: () => ({ public: {}, own: { a: {} }, private: {} }) },
      'own state of b',
    ],
  ])('fails at the start for %s', (_, changes, message) => {
    expect(() => rehearse(define(changes)())).toThrow(message)
  })
})

function bySeatAndTool(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
}
