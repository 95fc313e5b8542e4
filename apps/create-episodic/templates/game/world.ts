import { defineGame, definePolicy, defineTasks } from 'episodic'
import { z } from 'zod'

const Player = z.enum(['ann', 'bob'])

/** Nim with one heap: who takes the last stone wins. */
export const environment = defineGame({
  name: 'nim',
  version: '1.0.0',
  description: 'Take one to three stones in turn. Who takes the last one wins.',
  seats: ['ann', 'bob'],
  params: z.object({ stones: z.int().min(1).max(100).default(15) }),
  // All players see the public state; each sees what is its own; the private state is for the rules alone.
  state: {
    public: z.object({ stones: z.int(), turn_of: Player, winner: Player.nullable() }),
    own: z.object({}),
    private: z.object({}),
  },
  start: ({ params: { stones } }) => ({
    public: { stones, turn_of: 'ann', winner: null },
    own: { ann: {}, bob: {} },
    private: {},
  }),
  turn: ({ turn_of }) => turn_of,
  observe: ({ public: { stones } }) => `${stones} stones are left.`,
  tools: ({ tool }) => ({
    take: tool({
      description: 'Take stones.',
      input: z.object({ count: z.int().min(1).max(3).describe('How many.') }),
      play({ seat, others: [other], state, input: { count }, refuse, send, end, say }) {
        if (count > state.public.stones) return refuse('There are not as many.')
        state.public.stones -= count
        if (other) state.public.turn_of = other
        send('others', `${seat} took ${count}.`)
        if (state.public.stones === 0) {
          state.public.winner = seat
          end('empty')
        }
        return say(`You took ${count}.`)
      },
    }),
  }),
  // Who does not answer in time has lost.
  absent({ seat, state, end }) {
    state.public.winner = seat === 'ann' ? 'bob' : 'ann'
    end('forfeit')
  },
  rewards: {
    won: ({
      seat,
      after: {
        public: { winner },
      },
    }) => (winner === null ? 0 : winner === seat ? 1 : -1),
  },
  success: ({ seat, state }) => state.public.winner === seat,
})

/** What to play: the harder, the larger the heap. */
export const tasks = defineTasks({
  name: 'nim',
  environment,
  generate({ difficulty, rng }) {
    const stones = rng.int(5, 9) + Math.round(difficulty * 40)
    return { prompt: 'Win.', params: { stones }, difficulty }
  },
})

/** Who plays it well: leaves a multiple of four stones where it can. */
export const solver = definePolicy(environment, {
  name: 'leaves-fours',
  start: () => (observation) => {
    const stones = Number(/\d+/.exec(observation.text)?.[0] ?? 1)
    return { tool: 'take', arguments: { count: stones % 4 || 1 } }
  },
})
