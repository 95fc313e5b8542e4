import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

/** The seats, in the order of their turns. */
export const SEATS = ['left', 'right'] as const
export type SeatName = (typeof SEATS)[number]

const seatOf = (seat: SeatName) => SEATS.indexOf(seat)

/** Depends on the order of moves, so that two of them that are exchanged give another chain for ever. */
const link = (chain: number, seat: SeatName, amount: number) => (chain * 31 + 7 * seatOf(seat) + amount) % 99_991

/**
 * A ledger of two seats that a doubled, lost or reordered step cannot hide in: every move changes the chain, and every
 * later reward of both seats follows from it. The seats take turns, or, with `sealed`, move at once in rounds.
 */
export const environment = defineGame({
  name: 'two-seat-ledger',
  version: '1.0.0',
  description: 'Two seats add up what they are given, in turns or in sealed rounds.',
  seats: SEATS,
  params: z.object({ sealed: z.boolean().default(false), moves: z.int().min(1).default(10) }),
  state: {
    public: z.object({ moves: z.int(), chain: z.int(), left: z.int(), right: z.int() }),
    own: z.object({ moves: z.int(), waiting: z.int() }),
    private: z.object({}),
  },
  limits: { steps: 1_000_000 },
  start: () => ({
    public: { moves: 0, chain: 0, left: 0, right: 0 },
    own: { left: { moves: 0, waiting: 0 }, right: { moves: 0, waiting: 0 } },
    private: {},
  }),
  turn: ({ moves }, { sealed }) => (sealed ? SEATS : (SEATS[moves % 2] as SeatName)),
  observe: ({ seat, public: { moves, chain } }) => `${seat} sees the chain ${chain} after ${moves} moves.`,
  tools: ({ tool, sealed }) => ({
    add: tool({
      description: 'Add an amount, in its turn.',
      input: z.object({ amount: z.int() }),
      play({ state, params, seat, input, end, say }) {
        state.own[seat].moves += 1
        state.public.moves += 1
        state.public[seat] += input.amount
        state.public.chain = link(state.public.chain, seat, input.amount)
        if (state.public.moves === 2 * params.moves) end('full')
        return say(`${seat} has added ${input.amount}.`)
      },
    }),
    seal: sealed({
      description: 'Add an amount, in a round that is played once both have moved.',
      input: z.object({ amount: z.int() }),
      play({ own, input }) {
        own.moves += 1
        own.waiting += input.amount
      },
    }),
  }),
  settle({ state, params, moved, end }) {
    for (const seat of moved) {
      state.public.moves += 1
      state.public[seat] += state.own[seat].waiting
      state.public.chain = link(state.public.chain, seat, state.own[seat].waiting)
      state.own[seat].waiting = 0
    }
    if (state.public.moves === 2 * params.moves) end('full')
  },
  rewards: {
    gain: ({ seat, before, after }) => after.public[seat] - before.public[seat],
    tide: ({ seat, before, after }) =>
      after.public.moves === before.public.moves ? 0 : (after.public.chain + 13 * seatOf(seat)) % 101,
  },
})
