import { defineGame, type EnvironmentDefinition } from '@episodic/mcp-server'
import { z } from 'zod'

const SEATS = ['ann', 'bob', 'cid'] as const
type SeatName = (typeof SEATS)[number]

/** The state of a card table. */
export interface Table {
  public: { called: SeatName[]; left: SeatName[]; bids: number[]; note: string }
  own: Record<SeatName, { card: number; bid: number; note: string }>
  private: { next: number }
}

/** Mistakes that an author may make at a card table. A correct one has none. */
export interface TableFlaw {
  /** Changes a new table. */
  readonly begins?: (table: Table) => void
  /** Changes the table with every call. */
  readonly changes?: (table: Table, seat: SeatName) => void
  /** Returns a text that is added to the answer to a call. */
  readonly says?: (table: Table, seat: SeatName) => string
  /** Returns the text of a refusal. */
  readonly refuses?: (table: Table, seat: SeatName) => string
  /** Returns the texts that the other seats are sent with a call. */
  readonly sends?: (table: Table, seat: SeatName) => readonly string[]
  /** Returns the reason for which a seat leaves. */
  readonly leaves?: (table: Table) => string
  /** Returns the reason for which the episode ends. */
  readonly ends?: (table: Table) => string
  /** Changes the table when a round is played. */
  readonly settles?: (table: Table) => void
  /** Returns a text that is added to what a seat is shown, from what the module remembers of the last table. */
  readonly shows?: (memory: Memory) => string
  /** Returns whether a seat may leave, by its list of legal actions, from what the module remembers. */
  readonly lists?: (memory: Memory) => boolean
  /** Returns whether the seats call in reverse order, from what the module remembers. */
  readonly reverses?: (memory: Memory) => boolean
}

/** What a careless module keeps outside the state. */
interface Memory {
  table: Table
}

const BIDS = [0, 1, 2, 3]

/**
 * A table of three, each with a card. They call one after another, or leave; then all who stay bid at once,
 * and the highest bid gets the next card.
 */
export function createCardTable(flaw: TableFlaw = {}): EnvironmentDefinition {
  const memory = {} as Memory
  return defineGame({
    name: 'card-table',
    version: '1.0.0',
    description: 'Call or leave in turn; then bid at once for the next card.',
    seats: SEATS,
    state: {
      public: z.object({
        called: z.array(z.enum(SEATS)),
        left: z.array(z.enum(SEATS)),
        bids: z.array(z.int()),
        note: z.string(),
      }),
      own: z.object({ card: z.int(), bid: z.int(), note: z.string() }),
      private: z.object({ next: z.int() }),
    },
    limits: { steps: 8 },
    start({ rng }) {
      const holding = () => ({ card: rng.int(0, 3), bid: -1, note: '' })
      const table: Table = {
        public: { called: [], left: [], bids: [], note: '' },
        own: { ann: holding(), bob: holding(), cid: holding() },
        private: { next: rng.int(0, 3) },
      }
      flaw.begins?.(table)
      memory.table = structuredClone(table)
      return table
    },
    turn({ called, left }) {
      const staying = SEATS.filter((seat) => !left.includes(seat))
      const order = flaw.reverses?.(memory) ? staying.toReversed() : staying
      return order.find((seat) => !called.includes(seat)) ?? staying
    },
    observe: ({ own, public: { called, bids } }) =>
      `You hold ${own.card}. Called: ${called.join(', ') || 'nobody'}. Bids: ${bids.join(', ') || 'none'}.${flaw.shows?.(memory) ?? ''}`,
    tools: ({ tool, sealed }) => ({
      call: tool({
        description: 'Stay at the table.',
        input: z.object({}),
        play({ state, seat, send, say, refuse }) {
          if (state.public.called.includes(seat)) return refuse('You have called.')
          state.public.called.push(seat)
          flaw.changes?.(state, seat)
          for (const text of flaw.sends?.(state, seat) ?? [`${seat} has called.`]) send('others', text)
          return say(`You stay.${flaw.says?.(state, seat) ?? ''}`)
        },
      }),
      peek: tool({
        description: 'Look at the next card, which is not allowed.',
        input: z.object({}),
        play: ({ state, seat, refuse }) => refuse(flaw.refuses?.(state, seat) ?? 'That is not allowed.'),
      }),
      leave: tool({
        description: 'Leave the table.',
        input: z.object({}),
        play({ state, seat, others, say, refuse, leave, end }) {
          if (state.public.called.includes(seat)) return refuse('You have called.')
          state.public.left.push(seat)
          leave(seat, flaw.leaves?.(state) ?? 'gone')
          if (others.length === 1) end('deserted')
          return say('You leave.')
        },
      }),
      bid: sealed({
        description: 'Bid for the next card.',
        input: z.object({ bid: z.int().min(0).max(3).describe('How much.') }),
        play({ public: { called, left }, own, input, refuse }) {
          if (called.length + left.length < SEATS.length) return refuse('Not all have called.')
          own.bid = input.bid
          return undefined
        },
      }),
    }),
    settle({ state, moved, reveal, end }) {
      flaw.settles?.(state)
      const bids = moved.map((seat) => reveal(state.own[seat].bid))
      state.public.bids = bids
      const winner = moved[bids.indexOf(Math.max(...bids))] as SeatName
      state.own[winner].card = reveal(state.private.next, winner)
      end(flaw.ends?.(state) ?? 'sold')
    },
    legal({ seat, public: { called } }) {
      if (called.includes(seat)) return { bid: BIDS.map((bid) => ({ bid })) }
      return flaw.lists && !flaw.lists(memory) ? { call: true } : { call: true, leave: true }
    },
    rewards: { card: ({ seat, before, after }) => after.own[seat].card - before.own[seat].card },
  })
}
