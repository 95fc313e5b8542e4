import { diffArrays } from 'diff'
import { slideChanges } from './slide-changes.ts'

/** Lines that one text has where another has others: from `start` to before `end` in each. */
export interface Change {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

/** Returns where the lines of two texts differ, each place as far up or down as git shows it. */
export function diffLines(before: readonly string[], after: readonly string[]): Change[] {
  const removed = new Uint8Array(before.length)
  const added = new Uint8Array(after.length)
  let [top, tail] = [0, 0]
  const least = Math.min(before.length, after.length)
  while (top < least && before[top] === after[top]) top += 1
  while (tail < least - top && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1
  const [old, current] = [middleOf(before, top, tail), middleOf(after, top, tail)]
  const [shared, sharedToo] = [markUnique(old, current, removed), markUnique(current, old, added)]
  let [at, to] = [0, 0]
  const keys = (some: readonly Numbered[]) => some.map(({ line }) => line)
  for (const part of diffArrays(keys(shared), keys(sharedToo))) {
    if (part.removed) for (const { index } of shared.slice(at, at + part.count)) removed[index] = 1
    if (part.added) for (const { index } of sharedToo.slice(to, to + part.count)) added[index] = 1
    if (!part.added) at += part.count
    if (!part.removed) to += part.count
  }
  slideChanges(before, removed, added)
  slideChanges(after, added, removed)
  return toChanges(removed, added)
}

interface Numbered {
  readonly line: string
  readonly index: number
}

function middleOf(lines: readonly string[], top: number, tail: number): Numbered[] {
  return lines.slice(top, lines.length - tail).map((line, at) => ({ line, index: top + at }))
}

/** Marks the lines that the other text has nowhere, and returns those that it has. */
function markUnique(lines: readonly Numbered[], others: readonly Numbered[], marks: Uint8Array): Numbered[] {
  const known = new Set(others.map(({ line }) => line))
  return lines.filter(({ line, index }) => {
    if (known.has(line)) return true
    marks[index] = 1
    return false
  })
}

function toChanges(removed: Uint8Array, added: Uint8Array): Change[] {
  const changes: Change[] = []
  let [at, to] = [0, 0]
  while (at < removed.length || to < added.length) {
    const [oldStart, newStart] = [at, to]
    while (removed[at]) at += 1
    while (added[to]) to += 1
    if (at > oldStart || to > newStart) changes.push({ oldStart, oldEnd: at, newStart, newEnd: to })
    else {
      at += 1
      to += 1
    }
  }
  return changes
}
