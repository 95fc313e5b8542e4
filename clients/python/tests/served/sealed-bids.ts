import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

const SEATS = ['player_0', 'player_1', 'player_2'] as const

/** Two or three seats bid for prizes at once. Who has no money left is out, and others go on. */
export const environment = defineGame({
  name: 'sealed-bids',
  version: '1.0.0',
  description: 'Bid for each prize, unseen by others. The highest bid pays and wins; equal bids win nothing.',
  seats: SEATS,
  params: z.object({ players: z.int().min(2).max(3).default(3), rounds: z.int().min(1).max(5).default(3) }),
  present: ({ players }) => SEATS.slice(0, players),
  state: {
    public: z.object({
      playing: z.array(z.enum(SEATS)).max(3),
      prize: z.int().min(1).max(9),
      round: z.int().min(0).max(5),
      winner: z.enum(SEATS).nullable(),
    }),
    own: z.object({ purse: z.int().min(0).max(4), bid: z.int().min(0).max(4).nullable() }),
    private: z.object({}),
  },
  limits: { steps: 12 },
  start({ params, rng }) {
    const own = () => ({ purse: 4, bid: null })
    return {
      public: { playing: SEATS.slice(0, params.players), prize: rng.int(1, 9), round: 0, winner: null },
      own: { player_0: own(), player_1: own(), player_2: own() },
      private: {},
    }
  },
  // Who has left is not in turn, whatever is said here.
  turn: (_shown, { players }) => SEATS.slice(0, players),
  observe: ({ public: { prize, round }, own: { purse } }) => `Round ${round}: a prize of ${prize}. You have ${purse}.`,
  legal: ({ own: { purse } }) => ({ bid: Array.from({ length: purse + 1 }, (_, amount) => ({ amount })) }),
  tools: ({ sealed }) => ({
    bid: sealed({
      description: 'Bid, up to what you have.',
      input: z.object({ amount: z.int().min(0).max(4) }),
      play({ own, input, refuse }) {
        if (input.amount > own.purse) return refuse(`You have ${own.purse}.`)
        own.bid = input.amount
        return undefined
      },
    }),
  }),
  settle({ state, moved, params, rng, send, leave, end }) {
    const shown = state.public
    const bids = moved.map((seat) => ({ seat, bid: state.own[seat].bid ?? 0 }))
    const highest = Math.max(...bids.map(({ bid }) => bid))
    const [best, other] = bids.filter(({ bid }) => bid === highest)
    shown.winner = best && !other ? best.seat : null
    if (shown.winner !== null) {
      state.own[shown.winner].purse -= highest
      send(shown.winner, `You won ${shown.prize} for ${highest}.`)
    }
    for (const { seat } of bids) {
      state.own[seat].bid = null
      if (state.own[seat].purse > 0) continue
      shown.playing = shown.playing.filter((playing) => playing !== seat)
      leave(seat, 'broke')
    }
    shown.round += 1
    if (shown.round === params.rounds) end('sold')
    shown.prize = rng.int(1, 9)
  },
  absent({ seat, state, leave }) {
    state.public.playing = state.public.playing.filter((playing) => playing !== seat)
    leave(seat, 'gone')
  },
  rewards: {
    prize: ({ seat, before, after }) =>
      after.public.round > before.public.round && after.public.winner === seat ? before.public.prize : 0,
    cost: ({ seat, before, after }) => after.own[seat].purse - before.own[seat].purse,
    refused: ({ seat, moved, refused }) => (refused !== null && moved.includes(seat) ? -1 : 0),
  },
  success: ({ end }) => end.reason === 'sold',
})
