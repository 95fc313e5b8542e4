/** Returns rows of the same columns as a table, for people. */
export function tableOf(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const heads = Object.keys(rows[0] ?? {})
  const lines = [heads, ...rows.map((row) => Object.values(row).map(String))]
  const widths = heads.map((_, column) => Math.max(...lines.map((cells) => (cells[column] as string).length)))
  return lines
    .map((cells) => cells.map((cell, column) => cell.padStart(widths[column] as number)).join('  '))
    .join('\n')
}
