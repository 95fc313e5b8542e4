/** The places where passengers wait and want to go, with their row and column. */
const STOPS = { R: [0, 0], G: [0, 4], Y: [4, 0], B: [4, 3] } as const
export const STOP_NAMES = ['R', 'G', 'Y', 'B'] as const
export type Stop = (typeof STOP_NAMES)[number]

/** The moves, in Gymnasium's order. */
export const MOVES = ['south', 'north', 'east', 'west'] as const
export type Move = (typeof MOVES)[number]

export interface Square {
  readonly row: number
  readonly column: number
}

/** Rows and columns of the town. */
export const SIZE = 5

/** The town with its walls (`|`), as it is drawn. */
export const WALLS = ['. .|. . .', '. .|. . .', '. . . . .', '.|. .|. .', '.|. .|. .'] as const

const STEPS = { south: [1, 0], north: [-1, 0], east: [0, 1], west: [0, -1] } as const

/** What is on a driver's left and right. */
const LEFT = { south: 'east', north: 'west', east: 'north', west: 'south' } as const
const RIGHT = { south: 'west', north: 'east', east: 'south', west: 'north' } as const

/** The square that a move leads to; the same one if a wall or the edge is in the way. */
export function drive({ row, column }: Square, move: Move): Square {
  const [rows, columns] = STEPS[move]
  const next = { row: row + rows, column: column + columns }
  const inTown = next.row >= 0 && next.row < SIZE && next.column >= 0 && next.column < SIZE
  return inTown && !hasWall(row, column, move) ? next : { row, column }
}

/** The moves to a driver's left and right. */
export function sidesOf(move: Move): readonly [Move, Move] {
  return [LEFT[move], RIGHT[move]]
}

export function isSame(one: Square, other: Square): boolean {
  return one.row === other.row && one.column === other.column
}

/** The stop on a square, if there is one. */
export function stopAt({ row, column }: Square): Stop | undefined {
  return STOP_NAMES.find((name) => STOPS[name][0] === row && STOPS[name][1] === column)
}

export function squareOf(stop: Stop): Square {
  const [row, column] = STOPS[stop]
  return { row, column }
}

function hasWall(row: number, column: number, move: Move): boolean {
  if (move === 'south' || move === 'north') return false
  // Between two squares stands one character of the drawing.
  const between = 2 * column + (move === 'east' ? 1 : -1)
  return WALLS[row]?.charAt(between) === '|'
}
