import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

const Guess = z.object({ value: z.int(), hint: z.enum(['correct', 'higher', 'lower']) })

/**
 * The world that most tests play. Its reward terms have names that appear nowhere else, so that they can be searched
 * for in what an agent receives. The first ten numbers of a range are never the target, so that a test may guess them
 * without ending a game whose seed it does not know.
 */
export const numberGuessing = defineEnvironment({
  name: 'number-guessing',
  version: '1.0.0',
  description: 'Find the hidden number in few guesses.',
  handle: false,
  params: z.object({ low: z.int().default(1), high: z.int().default(100), maxGuesses: z.int().min(1).default(8) }),
  state: {
    public: z.object({ low: z.int(), high: z.int(), guesses: z.array(Guess), guessesLeft: z.int() }),
    private: z.object({ target: z.int() }),
  },
  start: ({ params, rng }) => ({
    public: { low: params.low, high: params.high, guesses: [], guessesLeft: params.maxGuesses },
    private: { target: rng.int(Math.min(params.low + 10, params.high), params.high) },
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
    jackpot: ({ end }) => (end?.reason === 'solved' ? 1 : 0),
    toll: ({ refused }) => (refused ? -0.05 : -0.01),
  },
  potential: ({ public: { guesses } }) => -guesses.length,
})

function compare(value: number, target: number): z.infer<typeof Guess>['hint'] {
  if (value === target) return 'correct'
  return value < target ? 'higher' : 'lower'
}

/** Finds the number between `low` and `high` by halving, with whatever `guess` gives back as the next hint. */
export async function halve(low: number, high: number, guess: (value: number) => Promise<unknown>): Promise<number> {
  for (let guesses = 1; ; guesses++) {
    const value = Math.floor((low + high) / 2)
    const hint = await guess(value)
    if (hint === 'correct') return guesses
    if (hint === 'higher') low = value + 1
    else if (hint === 'lower') high = value - 1
    else throw new Error(`This is no hint: ${JSON.stringify(hint)}`)
  }
}
