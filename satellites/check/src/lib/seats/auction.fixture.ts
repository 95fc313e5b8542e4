import { definePolicy } from '@episodic/env'
import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

const SEATS = ['ann', 'bob', 'cid'] as const
type Name = (typeof SEATS)[number]

interface Table {
  public: { called: string[]; left: Name[]; bids: number[]; note: string }
  own: Record<Name, { value: number; bid: number; word: string }>
  private: { reserve: number }
}

/** Mistakes that an author may make in an auction. A correct one has none. */
export interface AuctionFlaw {
  readonly utility?: 'zero-sum' | 'common' | 'general'
  readonly turn?: (table: Table['public']) => readonly Name[]
  /** Called at the start and by every call, with the whole table. */
  readonly play?: (table: Table, seat: Name | null) => void
  readonly legal?: (seat: Name) => { readonly call?: true; readonly bid?: true }
  readonly seal?: (seat: Name) => void
  readonly settle?: (table: Table) => void
}

const BIDS = [0, 1, 2, 3]
const MOST_BID = 3

/** Each of three seats holds a value and a word. They call one after another, or leave, and then bid at once. */
export function createAuction(flaw: AuctionFlaw = {}) {
  const environment = defineGame({
    name: 'auction',
    version: '1.0.0',
    description: 'Call or leave in turn; then all who stay bid at once, and the highest bid wins.',
    seats: SEATS,
    utility: flaw.utility ?? 'general',
    state: {
      public: z.object({
        called: z.array(z.string()),
        left: z.array(z.enum(SEATS)),
        bids: z.array(z.int()),
        note: z.string(),
      }),
      own: z.object({ value: z.int(), bid: z.int(), word: z.string() }),
      private: z.object({ reserve: z.int() }),
    },
    limits: { steps: 8 },
    start({ rng }) {
      const holding = () => ({
        value: rng.int(0, 9),
        bid: -1,
        word: Array.from({ length: 12 }, () => rng.int(0, 9)).join(''),
      })
      const table: Table = {
        public: { called: [], left: [], bids: [], note: '' },
        own: { ann: holding(), bob: holding(), cid: holding() },
        private: { reserve: rng.int(0, 2) },
      }
      flaw.play?.(table, null)
      return table
    },
    turn(table) {
      if (flaw.turn) return flaw.turn(table as Table['public'])
      const staying = SEATS.filter((seat) => !table.left.includes(seat))
      const next = staying.find((seat) => !table.called.includes(seat))
      return next ?? staying
    },
    observe: ({ seat, own, public: { called, bids, note } }) =>
      `${seat} holds ${own.value}. Called: ${called.join(', ') || 'nobody'}. Bids: ${bids.join(', ') || 'none'}.${note}`,
    tools: ({ tool, sealed }) => ({
      call: tool({
        description: 'Stay in the auction.',
        input: z.object({}),
        play({ state, seat, say, refuse }) {
          if (state.public.called.includes(seat)) return refuse('You have called.')
          state.public.called.push(seat)
          flaw.play?.(state, seat)
          return say('You stay.')
        },
      }),
      leave: tool({
        description: 'Leave the auction.',
        input: z.object({}),
        play({ state, seat, others, say, refuse, leave, end }) {
          if (state.public.called.includes(seat)) return refuse('You have called.')
          state.public.left.push(seat)
          leave(seat, 'gone')
          if (others.length === 1) end('deserted')
          return say('You leave.')
        },
      }),
      bid: sealed({
        description: 'Bid, when all have called.',
        input: z.object({ bid: z.int().min(0).max(MOST_BID).describe('How much.') }),
        play({ public: { called, left }, seat, own, input, refuse }) {
          if (called.length + left.length < SEATS.length) return refuse('Not all have called.')
          own.bid = input.bid
          flaw.seal?.(seat)
          return undefined
        },
      }),
    }),
    settle({ state, reveal, end }) {
      flaw.settle?.(state)
      state.public.bids = SEATS.map((seat) => reveal(state.own[seat].bid))
      end('sold')
    },
    legal({ seat, public: { called, left } }) {
      if (flaw.legal) return flaw.legal(seat)
      if (!called.includes(seat)) return { call: true, leave: true }
      return called.length + left.length < SEATS.length ? {} : { bid: BIDS.map((bid) => ({ bid })) }
    },
    rewards: {
      sale({ seat, after, end }) {
        if (end?.kind !== 'terminated' || end.reason !== 'sold') return 0
        const bids = SEATS.map((name) => after.own[name].bid)
        return SEATS[bids.indexOf(Math.max(...bids))] === seat ? after.own[seat].value - Math.max(...bids) : 0
      },
    },
  })
  const solver = definePolicy({
    name: 'cautious',
    start: () => (observation) => {
      const { turn = [], own } = (observation.structured ?? {}) as { turn?: string[]; own?: { value: number } }
      if (turn.length < 2 && !/Called: .*(cid)/.test(observation.text)) return { tool: 'call', arguments: {} }
      return { tool: 'bid', arguments: { bid: Math.min(MOST_BID, Math.floor((own?.value ?? 0) / 2)) } }
    },
  })
  return { environment, solver }
}
