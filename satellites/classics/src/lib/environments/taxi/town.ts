import type { Rng } from '@episodic/protocol'
import { distancesTo } from '../grid-walk.ts'

/** The town with its walls (`|`), as it is drawn. */
const WALLS = ['. .|. . .', '. .|. . .', '. . . . .', '.|. .|. .', '.|. .|. .'] as const

export const SIZE = 5

interface Square {
  readonly row: number
  readonly column: number
}

/** The places where passengers wait and want to go. */
export const STOPS = {
  R: { row: 0, column: 0 },
  G: { row: 0, column: 4 },
  Y: { row: 4, column: 0 },
  B: { row: 4, column: 3 },
} as const satisfies Record<string, Square>
export const STOP_NAMES = ['R', 'G', 'Y', 'B'] as const
type Stop = (typeof STOP_NAMES)[number]

/** The moves, in Gymnasium's order. */
export const MOVES = ['south', 'north', 'east', 'west'] as const
type Move = (typeof MOVES)[number]

const STEPS = { south: [1, 0], north: [-1, 0], east: [0, 1], west: [0, -1] } as const

const SIDES = {
  south: ['east', 'west'],
  north: ['west', 'east'],
  east: ['north', 'south'],
  west: ['south', 'north'],
} as const satisfies Record<Move, readonly Move[]>

/** How often a move in the rain goes where it should. Otherwise it drifts to the left or to the right. */
const KEPT_IN_RAIN = 0.8

/** The square that a move leads to; the same one if a wall or the edge is in the way. */
export function drive({ row, column }: Square, move: Move): Square {
  const [rows, columns] = STEPS[move]
  const next = { row: row + rows, column: column + columns }
  const isInTown = next.row >= 0 && next.row < SIZE && next.column >= 0 && next.column < SIZE
  // Between two squares of a row stands one character of the drawing.
  return isInTown && WALLS[row]?.charAt(2 * column + columns) !== '|' ? next : { row, column }
}

/** Where a move in the rain leads. If the way is blocked, the taxi does not drift either. */
export function driveInRain(from: Square, move: Move, rng: Rng): Square {
  const drifted = rng.chance(KEPT_IN_RAIN) ? move : rng.pick(SIDES[move])
  return isSame(from, drive(from, move)) ? from : drive(from, drifted)
}

function isSame(one: Square, other: Square): boolean {
  return one.row === other.row && one.column === other.column
}

export function stopAt(square: Square): Stop | undefined {
  return STOP_NAMES.find((name) => isSame(STOPS[name], square))
}

/** The fewest moves from each square to each stop, around the walls. All moves are reversible. */
const DISTANCES = new Map(
  STOP_NAMES.map((stop) => [
    stop,
    distancesTo(numberOf(STOPS[stop]), SIZE ** 2, (number) =>
      MOVES.map((move) => numberOf(drive({ row: Math.floor(number / SIZE), column: number % SIZE }, move))),
    ),
  ]),
)

export function distanceTo(stop: Stop, from: Square): number {
  return DISTANCES.get(stop)?.[numberOf(from)] as number
}

const TOWNS = Array.from({ length: SIZE ** 2 }, (_, at) =>
  WALLS.map((walls, row) => {
    const squares = [...walls]
    for (const stop of STOP_NAMES) if (STOPS[stop].row === row) squares[2 * STOPS[stop].column] = stop
    if (row === Math.floor(at / SIZE)) squares[2 * (at % SIZE)] = 'T'
    return squares.join('')
  }).join('\n'),
)

export function drawTown(taxi: Square): string {
  return TOWNS[numberOf(taxi)] as string
}

function numberOf({ row, column }: Square): number {
  return row * SIZE + column
}
