import { COLUMNS, ROWS } from './board.ts'

/** The columns from the centre outwards: those in the centre are in more lines, so they are searched first. */
const CENTRE_FIRST = [3, 2, 4, 1, 5, 0, 6]

/** The 69 lines of four, as cells; a cell is column · 6 + row. */
const LINES = listLines()
/** The lines through each cell. */
const LINES_OF = Array.from({ length: COLUMNS * ROWS }, (_, cell) =>
  LINES.flatMap((line, number) => (line.includes(cell) ? [number] : [])),
)

/** What a line is worth that has so many discs of one side, and none of the other. */
const WORTH = [0, 1, 4, 16]
/** A win in the next move; a later one is worth 1 less for each move. Above every sum of lines. */
const WIN = 100_000

/** What a search found. */
export interface BestColumn {
  readonly column: number
  /** `won` or `lost` if perfect play of both leads to it within the searched moves. */
  readonly outcome: 'won' | 'lost' | 'open'
}

/**
 * Searches for the best column of the side that is to move, with all answers for so many moves of both (negamax with
 * alpha-beta pruning). Where nothing is decided by then, it counts the lines that are still open. The board must not be
 * full or won.
 */
export function bestColumn(columns: readonly string[], plies: number): BestColumn {
  const board = new Board()
  const discs = columns.map((column) => [...column])
  for (const [column, side] of discs.flatMap((column, at) => column.map((disc) => [at, disc === 'X' ? 0 : 1] as const)))
    board.drop(column, side)
  const side = columns.join('').length % 2
  let best = { column: -1, value: Number.NEGATIVE_INFINITY }
  for (const column of CENTRE_FIRST.filter((at) => board.isOpen(at))) {
    const value = board.valueOf(column, side, plies, best.value, Number.POSITIVE_INFINITY)
    if (value > best.value) best = { column, value }
  }
  const outcome = Math.abs(best.value) < WIN - COLUMNS * ROWS ? 'open' : best.value > 0 ? 'won' : 'lost'
  return { column: best.column, outcome }
}

/** A board that knows, for each line, how many discs each side has in it. */
class Board {
  private readonly heights = new Int8Array(COLUMNS)
  private readonly counts = [new Int8Array(LINES.length), new Int8Array(LINES.length)] as const
  private free = COLUMNS * ROWS
  /** What the lines of the first side are worth, less those of the second. */
  private lead = 0

  isOpen(column: number): boolean {
    return (this.heights[column] as number) < ROWS
  }

  /** Drops a disc, and returns whether that makes four in line. */
  drop(column: number, side: number): boolean {
    const cell = column * ROWS + (this.heights[column] as number)
    this.heights[column] = (this.heights[column] as number) + 1
    this.free -= 1
    return this.count(cell, side, 1)
  }

  private lift(column: number, side: number): void {
    this.heights[column] = (this.heights[column] as number) - 1
    this.free += 1
    this.count(column * ROWS + (this.heights[column] as number), side, -1)
  }

  private count(cell: number, side: number, change: number): boolean {
    const own = this.counts[side as 0 | 1]
    let isFour = false
    for (const line of LINES_OF[cell] as number[]) {
      this.lead -= this.worthOf(line)
      own[line] = (own[line] as number) + change
      this.lead += this.worthOf(line)
      if (own[line] === 4) isFour = true
    }
    return isFour
  }

  private worthOf(line: number): number {
    const [first, second] = [this.counts[0][line] as number, this.counts[1][line] as number]
    if (first > 0 && second > 0) return 0
    return (WORTH[first] ?? 0) - (WORTH[second] ?? 0)
  }

  /** What dropping a disc is worth to a side, with so many moves to search, of which this is the first. */
  valueOf(column: number, side: number, plies: number, low: number, high: number): number {
    const isFour = this.drop(column, side)
    const value = isFour
      ? WIN - (COLUMNS * ROWS - this.free)
      : this.free === 0
        ? 0
        : plies === 1
          ? side === 0
            ? this.lead
            : -this.lead
          : -this.valueOfReply(1 - side, plies - 1, -high, -low)
    this.lift(column, side)
    return value
  }

  private valueOfReply(side: number, plies: number, low: number, high: number): number {
    let best = Number.NEGATIVE_INFINITY
    for (const column of CENTRE_FIRST) {
      if (!this.isOpen(column)) continue
      best = Math.max(best, this.valueOf(column, side, plies, Math.max(low, best), high))
      if (best >= high) break
    }
    return best
  }
}

function listLines(): number[][] {
  const lines: number[][] = []
  for (const [right, up] of [
    [0, 1],
    [1, 0],
    [1, 1],
    [1, -1],
  ] as const)
    for (let column = 0; column < COLUMNS; column++)
      for (let row = 0; row < ROWS; row++) {
        const [lastColumn, lastRow] = [column + 3 * right, row + 3 * up]
        if (lastColumn >= COLUMNS || lastRow < 0 || lastRow >= ROWS) continue
        lines.push([0, 1, 2, 3].map((step) => (column + step * right) * ROWS + row + step * up))
      }
  return lines
}
