import { defineTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { createRng } from '@episodic/protocol'
import { z } from 'zod'
import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import type { Reference } from '../reference.ts'
import { guessesNeeded } from './number-guessing/guesses-needed.ts'

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
      dataFollows: false,
      play({ state, input, refuse, reveal, end, say }) {
        const { low, high } = state.public
        if (input.value < low || input.value > high)
          return refuse(`${input.value} is out of range: the number is from ${low} to ${high}. This used no guess.`)
        const { target } = state.private
        const hint = reveal(input.value === target ? 'correct' : input.value < target ? 'higher' : 'lower')
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
  potential({ public: { low, high, guesses } }) {
    const { from, to } = narrow(low, high, guesses)
    return low === high ? 1 : 1 - (to - from) / (high - low)
  },
})

/** The range that is consistent with the hints, both ends included. */
function narrow(low: number, high: number, guesses: readonly Guess[]): { from: number; to: number } {
  let from = low
  let to = high
  for (const { value, hint } of guesses) {
    if (hint !== 'lower') from = Math.max(from, hint === 'correct' ? value : value + 1)
    if (hint !== 'higher') to = Math.min(to, hint === 'correct' ? value : value - 1)
  }
  return { from, to }
}

const WIDTH = { easiest: 10, hardest: 1_000 }
/** Spare guesses of the easiest task, beyond what binary search needs. The hardest has none. */
const SPARE_GUESSES = 4

const QUESTIONS = ['Find the hidden whole number', 'A whole number is hidden. Find it', 'Which whole number is hidden?']

/** Ranges of 10 to 1 000 numbers, anywhere from −1 000 to 2 000. The harder, the wider and the fewer spare guesses. */
export const tasks = defineTasks({
  name: 'number-guessing',
  environment,
  generate({ rng, difficulty }) {
    // The square makes narrow ranges more frequent, in which one number more matters most.
    const width = WIDTH.easiest + Math.round((WIDTH.hardest - WIDTH.easiest) * difficulty * difficulty)
    const low = rng.int(-1_000, 1_000)
    const high = low + width - 1
    const spare = Math.round(SPARE_GUESSES * (1 - difficulty))
    const maxGuesses = guessesNeeded(low, high) + spare
    return {
      prompt: `${rng.pick(QUESTIONS)} (${low} to ${high}, at most ${maxGuesses} guesses).`,
      hints: [
        'Every answer says whether the hidden number is higher or lower than the guess.',
        `Guess ${Math.floor((low + high) / 2)} first: it halves the range.`,
      ],
      params: { low, high, maxGuesses },
      // Leaves room for some refused guesses.
      limits: { steps: 3 * maxGuesses },
      difficulty,
      tags: [width <= 100 ? 'narrow' : 'wide', spare === 0 ? 'no-spare-guess' : 'spare-guesses'],
    }
  },
})

function middleOf({ from, to }: { readonly from: number; readonly to: number }): number {
  return Math.floor((from + to) / 2)
}

/** Binary search. Never needs more than {@link guessesNeeded} guesses, which is optimal. */
export const solver = definePolicy(environment, {
  name: 'binary-search',
  start({ task }) {
    const { low, high } = task.params
    let range = { from: low, to: high }
    return (_, { last }) => {
      const guess = last?.observation.structured
      if (guess) range = narrow(range.from, range.to, [guess as Guess])
      return { tool: 'guess', arguments: { value: middleOf(range) } }
    }
  },
})

const CARELESSNESS = 0.6

/** Follows the hints but halves the range only sometimes: a stochastic policy between random play and the solver. */
const careless = definePolicy(environment, {
  name: 'careless',
  start({ task, seed }) {
    const { low, high } = task.params
    const rng = createRng(seed).stream('careless')
    let range = { from: low, to: high }
    return (_, { last }) => {
      const guess = last?.observation.structured
      if (guess) range = narrow(range.from, range.to, [guess as Guess])
      return {
        tool: 'guess',
        arguments: { value: rng.chance(CARELESSNESS) ? rng.int(range.from, range.to) : middleOf(range) },
      }
    }
  },
})

/** Further policies, by the name that `--policy` takes. */
export const policies = { careless }

/** Returns how many guesses binary search makes in all to find each of so many numbers once. */
function guessesInAll(numbers: number): number {
  let guesses = 0
  let left = numbers
  // The k-th guess finds at most 2ᵏ⁻¹ of the numbers.
  for (let k = 1; left > 0; left -= 2 ** (k - 1), k += 1) guesses += k * Math.min(left, 2 ** (k - 1))
  return guesses
}

/** What binary search earns, which no other way of guessing exceeds. */
export const references: readonly Reference[] = [10, 100, 127].map((high) => ({
  id: `${high}-numbers/solver-played`,
  params: { high },
  quantity: `mean return of binary search, ${guessesInAll(high)}/${high} guesses on average`,
  value: 1 - (0.01 * guessesInAll(high)) / high,
  tolerance: 'interval',
  source: 'Knuth, The Art of Computer Programming, vol. 3, section 6.2.1',
  how: { kind: 'played', policy: 'solver' },
}))

export const numberGuessing: Classic = { environment, tasks, solver, references }
export const measure = measureOf(numberGuessing)
