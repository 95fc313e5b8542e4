/** Which player sits in which seat: the names of the players, in the order of the seats. */
export type Seating = readonly string[]

/** Returns every way to seat different players: each group as large as the seats, in each of its orders. */
export function seatingsOf(players: readonly string[], seats: number): Seating[] {
  if (seats === 0) return [[]]
  return players.flatMap((first) =>
    seatingsOf(
      players.filter((player) => player !== first),
      seats - 1,
    ).map((others) => [first, ...others]),
  )
}
