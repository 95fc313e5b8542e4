import { draw } from './draw.js'
import { filled } from './rows.js'

export function table(rows, width) {
  return draw(filled(rows), width)
}

export function csv(rows) {
  return filled(rows).map((row) => row.map(quoted).join(','))
}

function quoted(cell) {
  const isPlain = !cell.includes(',') && !cell.includes('"') && !cell.includes('\n')
  return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`
}
