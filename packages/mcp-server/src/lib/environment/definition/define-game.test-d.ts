import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { defineGame } from './define-game.ts'

const parts = {
  name: 'a-game',
  version: '1.0.0',
  description: 'A game.',
  seats: ['white', 'black'],
  state: {
    public: z.object({ moves: z.int() }),
    own: z.object({ cards: z.array(z.string()) }),
    private: z.object({ deck: z.array(z.string()) }),
  },
  start: () => ({
    public: { moves: 0 },
    own: { white: { cards: [] }, black: { cards: [] } },
    private: { deck: [] },
  }),
  turn: () => 'white' as const,
  observe: () => '',
  rewards: {},
} as const

test('every part of a game knows the seats, the state and the parameters', () => {
  defineGame({
    ...parts,
    params: z.object({ rounds: z.int() }),
    turn: ({ moves }, { rounds }) => (moves < rounds ? 'white' : ['white', 'black']),
    observe({ seat, public: { moves }, own }) {
      expectTypeOf(seat).toEqualTypeOf<'white' | 'black'>()
      return `${moves} ${own.cards.length}`
    },
    tools: ({ tool, sealed }) => ({
      move: tool({
        seats: ['white'],
        description: '',
        input: z.object({ to: z.string() }),
        play({ seat, others, state, input, say, leave, send }) {
          expectTypeOf(seat).toEqualTypeOf<'white'>()
          expectTypeOf(others).toEqualTypeOf<readonly ('white' | 'black')[]>()
          state.own.black.cards.push(input.to)
          send('others', 'A card for you.')
          leave('black', 'full')
          return say('Done.')
        },
      }),
      bid: sealed({
        description: '',
        input: z.object({ bid: z.int() }),
        play: ({ own, input }) => void own.cards.push(`${input.bid}`),
      }),
    }),
    settle({ state, moved }) {
      expectTypeOf(moved).toEqualTypeOf<readonly ('white' | 'black')[]>()
      state.public.moves += 1
    },
    rewards: {
      cards: ({ seat, before, after }) => after.own[seat].cards.length - before.own[seat].cards.length,
      bid: ({ tool, input, refused }) => (tool === 'bid' && refused === null ? input.bid : 0),
      // A round of sealed moves has no call.
      round: ({ tool, input }) => (tool === null && input === null ? 1 : 0),
      // @ts-expect-error: there is no such tool
      raised: ({ tool }) => (tool === 'raise' ? 1 : 0),
    },
  })
})

test('a mistake does not compile', () => {
  const acts = { description: '', input: z.object({}) }
  defineGame({
    ...parts,
    // @ts-expect-error: there is no such seat
    tools: ({ tool }) => ({ act: tool({ ...acts, seats: ['red'], play: ({ say }) => say('') }) }),
  })
  defineGame({
    ...parts,
    // @ts-expect-error: it is the turn of no such seat
    turn: () => 'red',
    tools: ({ tool }) => ({ act: tool({ ...acts, play: ({ say }) => say('') }) }),
  })
  defineGame({
    ...parts,
    // @ts-expect-error: no view has the private part
    observe: ({ private: hidden }) => hidden.deck.join(),
    tools: ({ tool }) => ({ act: tool({ ...acts, play: ({ say }) => say('') }) }),
  })
  defineGame({
    ...parts,
    // @ts-expect-error: a view has the part of its own seat alone
    observe: ({ own }) => own.black.cards.join(),
    tools: ({ tool }) => ({ act: tool({ ...acts, play: ({ say }) => say('') }) }),
  })
  defineGame({
    ...parts,
    settle: () => {},
    tools: ({ sealed }) => ({
      act: sealed({
        ...acts,
        play(context) {
          // @ts-expect-error: a sealed move changes nothing that others see
          context.public.moves += 1
          // @ts-expect-error: a sealed move draws nothing
          context.rng.int(6)
          // @ts-expect-error: a sealed move ends nothing
          context.end('over')
        },
      }),
    }),
  })
  defineGame({
    ...parts,
    // @ts-expect-error: a seat has no part of the state
    start: () => ({ public: { moves: 0 }, own: { white: { cards: [] } }, private: { deck: [] } }),
    tools: ({ tool }) => ({ act: tool({ ...acts, play: ({ say }) => say('') }) }),
  })
})

test('the events of a game know the seats, the state and their data, and tools publish no others', () => {
  defineGame({
    ...parts,
    events: ({ event }) => ({
      drawn: event({
        description: '',
        data: z.object({ card: z.string() }),
        apply({ state, data, send }) {
          state.own.black.cards.push(data.card)
          send('black', data.card)
          // @ts-expect-error: there is no such seat.
          send('red', data.card)
        },
      }),
    }),
    tools: ({ tool }) => ({
      move: tool({
        description: '',
        input: z.object({}),
        play({ publish, say }) {
          publish('drawn', { card: 'ace' })
          // @ts-expect-error: a card is a text.
          publish('drawn', { card: 1 })
          // @ts-expect-error: there is no such event.
          publish('dealt', {})
          return say('Done.')
        },
      }),
    }),
    absent({ publish }) {
      publish('drawn', { card: 'ace' })
      // @ts-expect-error: there is no such event.
      publish('dealt', {})
    },
    rewards: { news: ({ events }) => events.length },
  })
})
