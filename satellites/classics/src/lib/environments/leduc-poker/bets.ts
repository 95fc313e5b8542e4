/** The two rounds of bets, each as the first letters of its moves: call (which also checks), raise and fold. */
export interface Bets {
  readonly firstRound: string
  readonly secondRound: string
}

export const MOVES = { fold: 'f', call: 'c', raise: 'r' } as const

const ANTE = 1
const RAISES = { firstRound: 2, secondRound: 4 }
const MOST_RAISES = 2

/** Returns what the first and the second player have put into the pot. */
export function paid(bets: Bets): readonly [number, number] {
  const pot: [number, number] = [ANTE, ANTE]
  for (const round of ['firstRound', 'secondRound'] as const)
    for (const [at, move] of [...bets[round]].entries()) {
      if (move === MOVES.fold) continue
      pot[at % 2] = Math.max(...pot) + (move === MOVES.raise ? RAISES[round] : 0)
    }
  return pot
}

/** Lists what may be done after the moves of a round. */
export function nextMoves(round: string): (keyof typeof MOVES)[] {
  const raises = round.split(MOVES.raise).length - 1
  return [
    ...(round.endsWith(MOVES.raise) ? (['fold'] as const) : []),
    'call',
    ...(raises < MOST_RAISES ? (['raise'] as const) : []),
  ]
}

/** Returns whether a round is over because its last bet was called, or both players checked. */
export function isCalled(round: string): boolean {
  return round.length > 1 && round.endsWith(MOVES.call)
}
