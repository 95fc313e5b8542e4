import { defineEnvironment, definePolicy, defineTasks } from 'episodic'
import { z } from 'zod'

export const environment = defineEnvironment({
  name: 'higher-or-lower',
  version: '1.0.0',
  description: 'Find the hidden number, hearing only higher or lower.',
  params: z.object({ high: z.int().min(1).max(100).default(7) }),
  // Players see the public state. The private one is for the rules alone.
  state: { public: z.object({ high: z.int(), guesses: z.int() }), private: z.object({ target: z.int() }) },
  start: ({ params, rng }) => ({
    public: { high: params.high, guesses: 0 },
    private: { target: rng.int(1, params.high) },
  }),
  observe: ({ high, guesses }) => `A number from 1 to ${high}. ${guesses} guesses so far.`,
  tools: ({ tool }) => ({
    guess: tool({
      description: 'Guess the number. The answer says whether it is higher or lower than your guess.',
      input: z.object({ value: z.int().min(1).max(100).describe('Your guess.') }),
      output: z.object({
        hint: z.enum(['higher', 'lower', 'correct']).describe('Where the number is, seen from your guess.'),
      }),
      play({ state, input, refuse, reveal, end, say }) {
        if (input.value > state.public.high) return refuse(`The number is at most ${state.public.high}.`)
        state.public.guesses += 1
        const distance = state.private.target - input.value
        const hint = reveal(distance > 0 ? 'higher' : distance < 0 ? 'lower' : 'correct')
        if (hint === 'correct') end('found')
        return say(hint === 'correct' ? 'You found it.' : `The number is ${hint} than ${input.value}.`, { hint })
      },
    }),
  }),
  rewards: { found: ({ end }) => (end?.reason === 'found' ? 1 : 0), cost: () => -0.01 },
})

/** What to play: the harder, the wider the range. */
export const tasks = defineTasks({
  name: 'higher-or-lower',
  environment,
  generate({ difficulty }) {
    const high = 7 + Math.round(difficulty * 93)
    return { prompt: `Find the number from 1 to ${high}.`, params: { high }, difficulty, limits: { steps: 10 } }
  },
})

/** Who plays it well: guesses the middle of what is left. */
export const solver = definePolicy({
  name: 'halving',
  start({ task }) {
    let [low, high, middle] = [1, Number(task.params.high), 0]
    return (_observation, { last }) => {
      const hint = last?.observation.structured?.hint
      if (hint === 'higher') low = middle + 1
      if (hint === 'lower') high = middle - 1
      middle = Math.floor((low + high) / 2)
      return { tool: 'guess', arguments: { value: middle } }
    }
  },
})
