import { relative } from 'node:path'
import { createColors } from 'picocolors'

/** What a command writes with: results go to `out`, everything about them to `err`. */
export interface Console {
  readonly out: NodeJS.WriteStream
  readonly err: NodeJS.WriteStream
}

export const processConsole: Console = { out: process.stdout, err: process.stderr }

/** Colors of a stream; none where it is no terminal, or where NO_COLOR says so. */
export function colorsOf(stream: NodeJS.WriteStream) {
  return createColors(usesColor(stream))
}

export function usesColor(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && !process.env.NO_COLOR
}

/** A path as one would type it here: short below the working folder, whole elsewhere. */
export function shownPath(path: string): string {
  const short = relative('', path)
  return short.startsWith('..') ? path : short || '.'
}

/** Aligns rows into columns, the first row as a heading. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
