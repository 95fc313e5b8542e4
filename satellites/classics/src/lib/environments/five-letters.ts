import { defineEnvironment } from '@episodic/mcp-server'
import type { Action, JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import { plainTasks } from '../plain-tasks.ts'
import { played } from '../played.ts'
import type { Reference } from '../reference.ts'
import { strategyPolicy } from '../strategy-policy.ts'
import { bestGuess } from './five-letters/best-guess.ts'
import { fitting, type Guess, marksOf } from './five-letters/marks.ts'
import { WORDS } from './five-letters/words.ts'

const GUESSES = 6

/** Find a five-letter word from marked guesses: a game of this package's own, with a list of its own. */
export const environment = defineEnvironment({
  name: 'five-letters',
  version: '1.0.0',
  description: 'Find a hidden word of five letters. The marks of each guess say which letters are right.',
  handle: 'game',
  state: {
    public: z.object({
      guesses: z
        .array(
          z.object({
            word: z.enum(WORDS).describe('A word that you guessed.'),
            marks: z
              .string()
              .length(5)
              .describe('A mark for each letter: X is in its place, o elsewhere in the word, a dot not in it.'),
          }),
        )
        .max(GUESSES)
        .describe('Your guesses, oldest first.'),
      left: z.int().min(0).max(GUESSES).describe('The guesses that are left.'),
    }),
    private: z.object({ word: z.enum(WORDS) }),
  },
  limits: { steps: 20 },
  start: ({ rng }) => ({ public: { guesses: [], left: GUESSES }, private: { word: rng.pick(WORDS) } }),
  observe: ({ guesses, left }) =>
    [
      `Find the hidden word of five letters. Guesses left: ${left}. X is in its place, o elsewhere in the word, . not in it.`,
      ...guesses.map(({ word, marks }) => `${word} ${marks}`),
    ].join('\n'),
  legal: () => ({ guess: WORDS.map((word) => ({ word })) }),
  tools: ({ tool }) => ({
    guess: tool({
      description: 'Guess the word. It is one of those that can be guessed.',
      input: z.object({ word: z.enum(WORDS).describe('Your guess.') }),
      play({ state, input: { word }, reveal, end, say }) {
        const marks = reveal(marksOf(word, state.private.word))
        state.public.guesses.push({ word, marks })
        state.public.left -= 1
        if (marks === 'XXXXX') {
          end('found')
          return say(`${word} is the word.`)
        }
        if (state.public.left > 0) return say(`${word} ${marks}`)
        end('out-of-guesses')
        return say(`${word} ${marks}. That was your last guess; the word was ${reveal(state.private.word)}.`)
      },
    }),
  }),
  rewards: {
    found: ({ end }) => (end?.reason === 'found' ? 1 : 0),
    cost: () => -0.1,
  },
  // Φ: how far the words that fit have become fewer, from 0 to 1.
  potential: ({ public: { guesses } }) => 1 - (fitting(WORDS, guesses).length - 1) / (WORDS.length - 1),
  success: ({ end }) => end.reason === 'found',
  check: { waive: { 'pairs-diverge': 'The marks of the first guess are what the game reveals.' } },
})

/** One hidden word for each seed. */
export const tasks = plainTasks(environment, {
  prompt: 'Find the hidden word in as few guesses as you can. You have six.',
  hints: ['A guess that splits the words that fit into many groups shows the most, even if it cannot be the word.'],
})

/** The strategies of references. */
const strategies = {
  'fewest-guesses': ({ guesses }: JsonObject): Action => ({
    tool: 'guess',
    arguments: { word: bestGuess(fitting(WORDS, guesses as unknown as Guess[])).guess },
  }),
}

/** Finds the word in the fewest guesses on average. */
export const solver = strategyPolicy('fewest-guesses', strategies['fewest-guesses'])

/** 287 guesses find each of the 113 words once. */
const OPTIMUM = 1 - (0.1 * 287) / 113

/** What one of 113 words earns that is guessed at random, six times at most. */
const RANDOM = randomReturn(1 / 113)

/** This package's own: the game has its own list of words. */
export const references: readonly Reference[] = [
  {
    id: 'optimal',
    params: {},
    quantity: 'return of the fewest guesses on average, 287/113',
    value: OPTIMUM,
    tolerance: 1e-9,
    source: 'our own optimum, by exhaustive search',
    how: { kind: 'expected-return', policy: { strategy: 'fewest-guesses' }, steps: null },
  },
  played('solver', { value: OPTIMUM, tolerance: 'interval', source: 'our own optimum, by exhaustive search' }),
  {
    ...played('random', { value: RANDOM, tolerance: 'interval', source: 'exact, from the number of words' }),
    quantity: 'mean return of random guesses',
  },
]

function randomReturn(chance: number): number {
  const guesses = [0, 1, 2, 3, 4, 5].map((before) => (1 - chance) ** before)
  return guesses.reduce((sum, reached) => sum + reached * (chance - 0.1), 0)
}

export const fiveLetters: Classic = { environment, tasks, solver, references, strategies, hasSecrets: true }
export const measure = measureOf(fiveLetters)
