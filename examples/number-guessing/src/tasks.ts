import { defineTasks } from '@episodic/dataset'
import { environment } from './environment.ts'
import { guessesNeeded } from './solver.ts'

/** Size of the easiest and the hardest range. */
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
