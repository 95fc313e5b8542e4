import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

const Guess = z.object({
  value: z.int().describe('The number that you guessed.'),
  hint: z
    .enum(['higher', 'lower', 'correct'])
    .describe('Whether the hidden number is higher or lower than your guess; correct when you have found it.'),
})
type Guess = z.infer<typeof Guess>

/** Find the hidden number: a minimal world with a secret, a budget and a shaped reward. */
export const environment = defineEnvironment({
  name: 'number-guessing',
  version: '1.1.0',
  description: 'Find the hidden number in few guesses.',
  handle: 'game',
  params: z
    .object({ low: z.int().default(1), high: z.int().default(100), maxGuesses: z.int().min(1).default(8) })
    .refine(({ low, high }) => low <= high, { path: ['high'], message: 'has to be at least low' }),
  state: {
    public: z.object({ low: z.int(), high: z.int(), guesses: z.array(Guess), guessesLeft: z.int() }),
    private: z.object({ target: z.int() }),
  },
  start: ({ params, rng }) => ({
    public: { low: params.low, high: params.high, guesses: [], guessesLeft: params.maxGuesses },
    private: { target: rng.int(params.low, params.high) },
  }),
  observe: ({ low, high, guessesLeft }) =>
    `Guess a whole number from ${low} to ${high}. ${guessesLeft} ${guessesLeft === 1 ? 'guess' : 'guesses'} left.`,
  tools: ({ tool }) => ({
    guess: tool({
      description: 'Guess the number. The answer says whether it is higher or lower than your guess.',
      input: z.object({ value: z.int().describe('Your guess: a whole number in the range that you were given.') }),
      output: Guess,
      play({ state, input, refuse, reveal, end, say }) {
        const { low, high } = state.public
        if (input.value < low || input.value > high)
          return refuse(`${input.value} is out of range: the number is from ${low} to ${high}. This used no guess.`)
        const hint = reveal(compare(input.value, state.private.target))
        state.public.guesses.push({ value: input.value, hint })
        state.public.guessesLeft -= 1
        const answer = { value: input.value, hint }
        if (hint === 'correct') {
          end('solved')
          return say(`${input.value} is correct: you found the number.`, answer)
        }
        const hinted = `The number is ${hint} than ${input.value}.`
        if (state.public.guessesLeft > 0) return say(hinted, answer)
        end('out-of-guesses')
        return say(`${hinted} That was your last guess.`, answer)
      },
    }),
  }),
  rewards: {
    solved: ({ end }) => (end?.reason === 'solved' ? 1 : 0),
    cost: () => -0.01,
  },
  // Φ: how far the search has narrowed, from 0 (anything is possible) to 1 (one number is left).
  potential: ({ public: s }) => (s.high === s.low ? 1 : 1 - (candidates(s) - 1) / (s.high - s.low)),
})

/** The position of the hidden number relative to the guess. */
function compare(value: number, target: number): Guess['hint'] {
  if (value === target) return 'correct'
  return value < target ? 'higher' : 'lower'
}

/** How many numbers are consistent with the hints. */
function candidates({ low, high, guesses }: { low: number; high: number; guesses: Guess[] }): number {
  const { from, to } = narrow(low, high, guesses)
  return to - from + 1
}

/** The range that is consistent with the hints, both ends included. */
export function narrow(low: number, high: number, guesses: readonly Guess[]): { from: number; to: number } {
  let from = low
  let to = high
  for (const { value, hint } of guesses) {
    if (hint !== 'lower') from = Math.max(from, hint === 'correct' ? value : value + 1)
    if (hint !== 'higher') to = Math.min(to, hint === 'correct' ? value : value - 1)
  }
  return { from, to }
}
