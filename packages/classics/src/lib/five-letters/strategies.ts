import type { Action, JsonObject } from '@episodic/protocol'
import { bestGuess } from './best-guess.ts'
import { fitting, type Guess } from './marks.ts'
import { WORDS } from './words.ts'

/** The strategies of references. */
export const strategies = {
  'fewest-guesses': ({ guesses }: JsonObject): Action => ({
    tool: 'guess',
    arguments: { word: bestGuess(fitting(WORDS, guesses as unknown as Guess[])).guess },
  }),
}
