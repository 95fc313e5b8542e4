import { isNumeric } from './rows.js'
import { wrap } from './wrap.js'

/** The lines of a table with filled rows. */
export function draw(rows, most) {
  const widths = rows[0].map((_, column) => Math.min(most, Math.max(...rows.map((row) => row[column].length))))
  const numeric = rows[0].map((_, column) => isNumeric(rows, column))
  const [heading, ...body] = rows.map((row) => drawRow(row, widths, numeric))
  return [...heading, widths.map((width) => '-'.repeat(width)).join('  '), ...body.flat()]
}

function drawRow(row, widths, numeric) {
  const cells = row.map((cell, column) => wrap(cell, widths[column]))
  const height = Math.max(...cells.map((lines) => lines.length))
  return Array.from({ length: height }, (_, line) => {
    const parts = cells.map((lines, column) => pad(lines[line] ?? '', widths[column], numeric[column]))
    return parts.join('  ').trimEnd()
  })
}

function pad(text, width, isRight) {
  return isRight ? text.padStart(width) : text.padEnd(width)
}
