import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'
import { fitting, marksOf } from './marks.ts'
import { WORDS } from './words.ts'

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
