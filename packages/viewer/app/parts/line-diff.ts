import { diffLines, diffWordsWithSpace } from 'diff'

/** A piece of a line, and whether it is in only one of the two texts. */
export interface DiffPiece {
  readonly text: string
  readonly changed: boolean
}

/** A line of two texts that are compared. */
export interface DiffLine {
  readonly mark: 'same' | 'added' | 'removed'
  readonly pieces: readonly DiffPiece[]
}

/**
 * Beyond so many different lines, or words of a line, they are shown as removed and added, without looking for what is
 * the same.
 */
const MOST_EDITS = 3_000
const MOST_WORD_EDITS = 200

/**
 * Compares two texts by their lines, and changed lines by their words. Without the texts' changes there are only `same`
 * lines.
 */
export function lineDiff(before: string, after: string): DiffLine[] {
  const changes = diffLines(before, after, { maxEditLength: MOST_EDITS }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ]
  const lines: DiffLine[] = []
  for (let i = 0; i < changes.length; i++) {
    const change = changes[i]
    const next = changes[i + 1]
    if (!change) continue
    const own = linesOf(change.value)
    if (change.removed && next?.added) {
      lines.push(...compareLines(own, linesOf(next.value)))
      i += 1
    } else {
      const mark = change.added ? 'added' : change.removed ? 'removed' : 'same'
      for (const text of own) lines.push({ mark, pieces: [{ text, changed: false }] })
    }
  }
  return lines
}

/** Compares two texts by their words. */
export function wordDiff(
  before: string,
  after: string,
): { readonly removed: DiffPiece[]; readonly added: DiffPiece[] } {
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MOST_WORD_EDITS })
  if (!changes) return { removed: [{ text: before, changed: true }], added: [{ text: after, changed: true }] }
  const piece = ({ value, added, removed }: (typeof changes)[number]) => ({ text: value, changed: added || removed })
  return {
    removed: changes.filter(({ added }) => !added).map(piece),
    added: changes.filter(({ removed }) => !removed).map(piece),
  }
}

/** Lines that were replaced by others: compared in pairs if there are as many. */
function compareLines(removed: readonly string[], added: readonly string[]): DiffLine[] {
  const paired = removed.length === added.length
  const pieces = removed.map((text, i) => (paired ? wordDiff(text, added[i] ?? '') : null))
  const whole = (text: string) => [{ text, changed: false }]
  return [
    ...removed.map((text, i) => ({ mark: 'removed' as const, pieces: pieces[i]?.removed ?? whole(text) })),
    ...added.map((text, i) => ({ mark: 'added' as const, pieces: pieces[i]?.added ?? whole(text) })),
  ]
}

/** The lines of a text, without their breaks. */
function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
