import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

const Guess = z.object({ value: z.int(), hint: z.enum(['correct', 'higher', 'lower']) })
const compare = (value: number, target: number): z.infer<typeof Guess>['hint'] =>
  value === target ? 'correct' : value < target ? 'higher' : 'lower'
const candidates = (s: { low: number; high: number; guesses: z.infer<typeof Guess>[] }): number => s.high - s.low

export const numberGuessing = defineEnvironment({
  name: 'number-guessing',
  version: '1.0.0',
  description: 'Find the hidden number in few guesses.',
  params: z.object({ low: z.int().default(1), high: z.int().default(100), maxGuesses: z.int().min(1).default(8) }),
  state: {
    public: z.object({ low: z.int(), high: z.int(), guesses: z.array(Guess), guessesLeft: z.int() }),
    private: z.object({ target: z.int() }),
  },
  start: ({ params, rng }) => ({
    public: { low: params.low, high: params.high, guesses: [], guessesLeft: params.maxGuesses },
    private: { target: rng.int(params.low, params.high) },
  }),
  observe: ({ low, high, guessesLeft }) => `Guess a whole number from ${low} to ${high}. ${guessesLeft} guesses left.`,
  tools: ({ tool }) => ({
    guess: tool({
      description: 'Guess the number.',
      input: z.object({ value: z.int() }),
      output: Guess,
      play({ state, input, refuse, reveal, end, say }) {
        if (input.value < state.public.low || input.value > state.public.high) return refuse('Out of range.')
        const hint = reveal(compare(input.value, state.private.target))
        state.public.guesses.push({ value: input.value, hint })
        state.public.guessesLeft -= 1
        if (hint === 'correct') end('solved')
        else if (state.public.guessesLeft === 0) end('out-of-guesses')
        return say(`${input.value} is ${hint}.`, { value: input.value, hint })
      },
    }),
  }),
  rewards: {
    solved: ({ end }) => (end?.reason === 'solved' ? 1 : 0),
    cost: () => -0.01,
  },
  potential: ({ public: s }) => 1 - (candidates(s) - 1) / (s.high - s.low), // Φ: how far the search has narrowed
})
