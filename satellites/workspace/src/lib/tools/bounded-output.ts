/** Characters of an output that an agent reads: half from its beginning, half from its end. */
const SHOWN = 16_000

/** Characters of an output that are kept in a file when it is too long to be shown. */
export const KEPT = 262_144

/** Returns a text as an agent reads it: cut in the middle if it is long. `file` has all of it. */
export function boundedOutput(text: string, file: string): string {
  if (text.length <= SHOWN) return text
  const head = text.slice(0, lineEnd(text, SHOWN / 2))
  const tail = text.slice(lineEnd(text, text.length - SHOWN / 2))
  const left = text.slice(head.length, text.length - tail.length)
  const lines = left.split('\n').length - 1
  const where = text.length > KEPT ? `the first ${KEPT} characters are in ${file}` : `all of it is in ${file}`
  return `${head}[${lines} lines, ${left.length} characters are left out; ${where}]\n${tail}`.toWellFormed()
}

/** Returns where the line ends that an index is in; the index itself in a very long line. */
function lineEnd(text: string, index: number): number {
  const end = text.indexOf('\n', index)
  return end < 0 || end - index > SHOWN / 4 ? index : end + 1
}
