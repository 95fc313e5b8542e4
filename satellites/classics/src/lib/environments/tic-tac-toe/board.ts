/** The cells of three in a row: rows, columns and diagonals, numbered by row from 0. */
const LINES = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 3, 6],
  [1, 4, 7],
  [2, 5, 8],
  [0, 4, 8],
  [2, 4, 6],
] as const

/** Where each cell comes from in a quarter turn, and in a reflection. */
const TURNED = [6, 3, 0, 7, 4, 1, 8, 5, 2]
const REFLECTED = [2, 1, 0, 5, 4, 3, 8, 7, 6]

/**
 * Returns whether somebody has three in a row. A board has nine characters by row: `X`, `O`, or `.` for a free cell.
 */
export function hasThree(board: string): boolean {
  return LINES.some(([a, b, c]) => board[a] !== '.' && board[a] === board[b] && board[a] === board[c])
}

/** Returns the first, in the order of text, of the eight boards that a board becomes by turning and reflecting it. */
export function symmetricBoard(board: string): string {
  const boards: string[] = []
  for (let turns = 0, turned = board; turns < 4; turns++, turned = moved(turned, TURNED))
    boards.push(turned, moved(turned, REFLECTED))
  return boards.sort()[0] as string
}

function moved(board: string, from: readonly number[]): string {
  return from.map((cell) => board[cell]).join('')
}
