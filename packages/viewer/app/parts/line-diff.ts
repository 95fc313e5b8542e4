import { diffArrays, diffWordsWithSpace } from 'diff'

export interface DiffPiece {
  readonly text: string
  readonly changed: boolean
}

export interface DiffLine {
  readonly mark: 'same' | 'added' | 'removed'
  readonly pieces: readonly DiffPiece[]
}

/** Beyond so many different lines, or words of a line, nothing that is the same is looked for. */
const MOST_EDITS = 3_000
const MOST_WORD_EDITS = 200

export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  // Of a large state most is the same.
  const most = Math.min(old.length, now.length)
  let head = 0
  while (head < most && old[head] === now[head]) head++
  let tail = 0
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const end = old.length - tail
  const [removed, added] = [old.slice(head, end), now.slice(head, now.length - tail)]
  const changes = diffArrays(removed, added, { maxEditLength: MOST_EDITS }) ?? [
    { value: removed, removed: true, added: false },
    { value: added, removed: false, added: true },
  ]
  const lines = old.slice(0, head).map(sameLine)
  for (let i = 0; i < changes.length; i++) {
    const change = changes[i]
    const next = changes[i + 1]
    if (!change) continue
    if (change.removed && next?.added) {
      lines.push(...compareLines(change.value, next.value))
      i += 1
    } else
      for (const text of change.value)
        lines.push({ ...sameLine(text), mark: change.added ? 'added' : change.removed ? 'removed' : 'same' })
  }
  for (const text of old.slice(end)) lines.push(sameLine(text))
  return lines
}

function sameLine(text: string): DiffLine {
  return { mark: 'same', pieces: [{ text, changed: false }] }
}

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

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
