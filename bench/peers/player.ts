/** A client of one protocol on one connection, which plays one episode after another. */
export interface Player {
  /** Plays an episode by halving the range, and resolves with its steps. Rejects if it does not find the number. */
  play(seed: number): Promise<number>
  close(): void
}

/** Takes a guess to the server, and resolves with the hint. */
export type Guess = (value: number) => Promise<string>

/** The largest number, and the most guesses that one takes. */
const [LARGEST, MOST_GUESSES] = [1_000_000_000, 30]

/** Finds the number, from 1 to a billion, and resolves with the guesses that it took. */
export async function findNumber(guess: Guess): Promise<number> {
  let [low, high] = [1, LARGEST]
  for (let steps = 1; steps <= MOST_GUESSES; steps++) {
    const value = Math.floor((low + high) / 2)
    const hint = await guess(value)
    if (hint === 'correct') return steps
    if (hint === 'higher') low = value + 1
    else if (hint === 'lower') high = value - 1
    else throw new Error(`Got ${hint} as a hint.`)
  }
  throw new Error('The hints lead to no number.')
}
