export const COLUMNS = 7
export const ROWS = 6

export function openColumns(columns: readonly string[]): number[] {
  return columns.flatMap((discs, column) => (discs.length < ROWS ? [column] : []))
}

/** Returns whether the top disc of a column is in a line of four. */
export function hasFour(columns: readonly string[], column: number): boolean {
  const row = (columns[column]?.length ?? 0) - 1
  const disc = columns[column]?.[row]
  const run = (right: number, up: number): number => {
    let length = 0
    while (columns[column + right * (length + 1)]?.[row + up * (length + 1)] === disc) length += 1
    return length
  }
  const isLine = (right: number, up: number) => 1 + run(right, up) + run(-right, -up) >= 4
  return isLine(0, 1) || isLine(1, 0) || isLine(1, 1) || isLine(1, -1)
}
