import { type Direction, STEPS } from '../grid-walk.ts'

/** The directions in the order of the references. */
export const DIRECTIONS = ['up', 'right', 'down', 'left'] as const

/** Rows of squares: `#` wall, `.` goal, `$` box, `*` box on a goal, `@` player, `+` player on a goal, and floor. */
export type Board = readonly string[]

/** Moves the player, who pushes a box if one is there; `null` if a wall or a second box is in the way. */
export function move(board: Board, direction: Direction): string[] | null {
  const [rows, columns] = STEPS[direction]
  const row = board.findIndex((squares) => /[@+]/.test(squares))
  const column = (board[row] ?? '').search(/[@+]/)
  const at = (steps: number) => (board[row + steps * rows] ?? '').charAt(column + steps * columns)
  const pushes = isBox(at(1))
  if (at(1) === '#' || (pushes && (at(2) === '#' || isBox(at(2))))) return null
  const drawn = board.map((squares) => [...squares])
  const draw = (steps: number, piece: '@' | '$' | ' ') => {
    const line = drawn[row + steps * rows] as string[]
    line[column + steps * columns] = isGoal(at(steps)) ? ON_GOAL[piece] : piece
  }
  draw(0, ' ')
  draw(1, '@')
  if (pushes) draw(2, '$')
  return drawn.map((line) => line.join(''))
}

/** How many boxes are on goals. */
export function boxesOnGoals(board: Board): number {
  return countOf(board, '*')
}

export function isSolved(board: Board): boolean {
  return countOf(board, '$') === 0
}

const ON_GOAL = { '@': '+', $: '*', ' ': '.' } as const

function isBox(square: string): boolean {
  return square === '$' || square === '*'
}

function isGoal(square: string): boolean {
  return square === '.' || square === '*' || square === '+'
}

function countOf(board: Board, square: string): number {
  return board.join('').split(square).length - 1
}
