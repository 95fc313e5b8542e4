/** Lines of equal length that make a text a grid. */
const LEAST_LINES = 3
const MOST_WIDTH = 100

/** Whether a text is a map or a board of characters, whose columns need letters of one width. */
export function hasGrid(text: string): boolean {
  let [equal, width] = [0, 0]
  for (const line of text.split('\n')) {
    equal = line.length === width ? equal + 1 : 1
    width = line.length
    if (equal >= LEAST_LINES && width > 1 && width <= MOST_WIDTH) return true
  }
  return /[│─┌┐└┘├┤┬┴┼║═]|\+-{2,}\+|^\|.*\|$/m.test(text)
}
