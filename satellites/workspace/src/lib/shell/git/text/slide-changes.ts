/** Lines that a group of changed ones is moved at most while the best place for it is looked for. */
const MOST_SLIDING = 100
const MOST_INDENT = 200
const MOST_BLANKS = 20

/** How bad it is to split a text before or after a line, as git weighs it. */
const WEIGHTS = {
  startOfFile: 1,
  endOfFile: 21,
  blanks: -30,
  blanksAfter: 6,
  indent: -4,
  indentWithBlank: 10,
  outdent: 24,
  outdentWithBlank: 17,
  dedent: 23,
  dedentWithBlank: 17,
  indentation: 60,
}

/**
 * Moves each group of changed lines of a text up or down where the same change can be said in several places: to meet
 * a change of the other text, else to where the indentation of the lines says that a part begins.
 */
export function slideChanges(lines: readonly string[], changed: Uint8Array, others: Uint8Array): void {
  const groups = new Groups(lines, changed)
  const opposite = new Groups([], others)
  for (;;) {
    if (groups.end > groups.start) slideGroup(lines, groups, opposite)
    if (!groups.next()) return
    opposite.next()
  }
}

/** A group of changed lines that moves over a text. Between two groups, even empty ones, is one unchanged line. */
class Groups {
  readonly #lines: readonly string[]
  readonly #changed: Uint8Array
  start = 0
  end = 0

  constructor(lines: readonly string[], changed: Uint8Array) {
    this.#lines = lines
    this.#changed = changed
    this.#extend()
  }

  next(): boolean {
    if (this.end === this.#changed.length) return false
    this.start = this.end + 1
    this.end = this.start
    this.#extend()
    return true
  }

  previous(): void {
    this.end = this.start - 1
    this.start = this.end
    while (this.start > 0 && this.#changed[this.start - 1]) this.start -= 1
  }

  /** Moves the group down by a line, and joins it with the next if it meets that. */
  slideDown(): boolean {
    if (this.end >= this.#changed.length || this.#lines[this.start] !== this.#lines[this.end]) return false
    this.#changed[this.start++] = 0
    this.#changed[this.end++] = 1
    this.#extend()
    return true
  }

  slideUp(): boolean {
    if (this.start === 0 || this.#lines[this.start - 1] !== this.#lines[this.end - 1]) return false
    this.#changed[--this.start] = 1
    this.#changed[--this.end] = 0
    while (this.start > 0 && this.#changed[this.start - 1]) this.start -= 1
    return true
  }

  #extend(): void {
    while (this.end < this.#changed.length && this.#changed[this.end]) this.end += 1
  }
}

function slideGroup(lines: readonly string[], group: Groups, opposite: Groups): void {
  let [size, earliest, meeting] = [0, 0, -1]
  // Sliding may join groups, and a larger group may slide further.
  do {
    size = group.end - group.start
    meeting = -1
    while (group.slideUp()) opposite.previous()
    earliest = group.end
    if (opposite.end > opposite.start) meeting = group.end
    while (group.slideDown()) {
      opposite.next()
      if (opposite.end > opposite.start) meeting = group.end
    }
  } while (group.end - group.start !== size)
  if (group.end === earliest) return
  if (meeting >= 0) {
    while (opposite.end === opposite.start) {
      group.slideUp()
      opposite.previous()
    }
    return
  }
  const best = bestEnd(lines, group, earliest, size)
  while (group.end > best) {
    group.slideUp()
    opposite.previous()
  }
}

function bestEnd(lines: readonly string[], group: Groups, earliest: number, size: number): number {
  let [best, bestScore]: [number, Score | null] = [-1, null]
  for (let end = Math.max(earliest, group.end - size - 1, group.end - MOST_SLIDING); end <= group.end; end++) {
    const score = { indent: 0, penalty: 0 }
    addSplit(score, lines, end)
    addSplit(score, lines, end - size)
    if (bestScore === null || isBetter(score, bestScore)) [best, bestScore] = [end, score]
  }
  return best
}

interface Score {
  indent: number
  penalty: number
}

function isBetter(score: Score, best: Score): boolean {
  return WEIGHTS.indentation * Math.sign(score.indent - best.indent) + score.penalty - best.penalty <= 0
}

/** Adds how bad it is to split the lines before one of them. */
function addSplit(score: Score, lines: readonly string[], at: number): void {
  const isEnd = at >= lines.length
  const indent = isEnd ? -1 : indentOf(lines[at] as string)
  const [before, blanksBefore] = indentBeyond(lines, at, -1)
  const [after, blanksAfter] = indentBeyond(lines, at, 1)
  if (before === -1 && blanksBefore === 0) score.penalty += WEIGHTS.startOfFile
  if (isEnd) score.penalty += WEIGHTS.endOfFile
  const blanksFromHere = indent === -1 ? 1 + blanksAfter : 0
  const blanks = blanksBefore + blanksFromHere
  score.penalty += WEIGHTS.blanks * blanks + WEIGHTS.blanksAfter * blanksFromHere
  const effective = indent === -1 ? after : indent
  score.indent += effective
  const withBlank = blanks > 0
  if (effective === -1 || before === -1 || effective === before) return
  if (effective > before) score.penalty += withBlank ? WEIGHTS.indentWithBlank : WEIGHTS.indent
  else if (after !== -1 && after > effective) score.penalty += withBlank ? WEIGHTS.outdentWithBlank : WEIGHTS.outdent
  else score.penalty += withBlank ? WEIGHTS.dedentWithBlank : WEIGHTS.dedent
}

/** Returns the indent of the next line with text before or after another, -1 without one, and blank lines between. */
function indentBeyond(lines: readonly string[], at: number, step: 1 | -1): [indent: number, blanks: number] {
  let blanks = 0
  for (let i = at + step; i >= 0 && i < lines.length; i += step) {
    const indent = indentOf(lines[i] as string)
    if (indent !== -1) return [indent, blanks]
    blanks += 1
    if (blanks === MOST_BLANKS) return [0, blanks]
  }
  return [-1, blanks]
}

/** Returns the columns of white space that a line begins with; -1 for a blank line. */
function indentOf(line: string): number {
  let columns = 0
  for (const letter of line) {
    if (letter === '\t') columns += 8 - (columns % 8)
    else if (letter === ' ') columns += 1
    else if (!/\s/.test(letter)) return columns
    if (columns >= MOST_INDENT) return MOST_INDENT
  }
  return -1
}
