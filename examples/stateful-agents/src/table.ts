import type { Row } from './play-scene.ts'

const HEADINGS = ['scene', 'sessions', 'opened', '', 'what came out']
const OPENED = 2

/** Returns rows as a table of plain text, with a scene's name only in its first row. */
export function formatTable(rows: readonly Row[]): string {
  const cells = rows.map((row, index) => [
    rows[index - 1]?.scene === row.scene ? '' : row.scene,
    row.sessions,
    ...(row.kind === 'played'
      ? [String(row.opened), row.works ? '✓' : '✗', inOneLine(row.outcome)]
      : ['', '–', `${row.kind}: ${inOneLine(row.outcome)}`]),
  ])
  const table = [HEADINGS, ...cells]
  const widths = HEADINGS.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)))
  return table
    .map((line) =>
      line
        .map((cell, column) => align(cell, widths[column] ?? 0, column))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Aligns the number right, and words left. */
function align(cell: string, width: number, column: number): string {
  return column === OPENED ? cell.padStart(width) : cell.padEnd(width)
}

function inOneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
