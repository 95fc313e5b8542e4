/** Letters of a word of the game. */
const LENGTH = 5

/**
 * Marks a guess letter by letter: `X` in its place, `o` elsewhere in the word, `.` not in it. Letters in their place
 * are marked first, and each letter of the word accounts for one mark.
 */
export function marksOf(guess: string, word: string): string {
  const marks = Array<string>(LENGTH).fill('.')
  const left: string[] = []
  for (let at = 0; at < LENGTH; at++) {
    if (guess[at] === word[at]) marks[at] = 'X'
    else left.push(word.charAt(at))
  }
  for (let at = 0; at < LENGTH; at++) {
    const found = marks[at] === 'X' ? -1 : left.indexOf(guess.charAt(at))
    if (found >= 0) {
      marks[at] = 'o'
      left.splice(found, 1)
    }
  }
  return marks.join('')
}

/** A guess and its marks. */
export interface Guess {
  readonly word: string
  readonly marks: string
}

/** The words that fit all guesses. */
export function fitting<Word extends string>(words: readonly Word[], guesses: readonly Guess[]): Word[] {
  return words.filter((word) => guesses.every((guess) => marksOf(guess.word, word) === guess.marks))
}
