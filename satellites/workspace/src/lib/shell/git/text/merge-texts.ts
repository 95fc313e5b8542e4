import { splitLines } from '../bytes.ts'
import { type Change, diffLines } from './diff-lines.ts'

/** Lines between two conflicts up to which they are shown as one. */
const BETWEEN = 3

type Part =
  | { readonly kind: 'same' | 'changed'; readonly lines: readonly string[] }
  | { readonly kind: 'conflict'; readonly ours: readonly string[]; readonly theirs: readonly string[] }

/** Which side is taken where both have changed the same place; `null` to mark it. */
export type Favored = 'ours' | 'theirs' | null

/** Merges what two texts have changed of a third, with marks where both have changed the same place. */
export function mergeTexts(
  base: string,
  ours: string,
  theirs: string,
  [ourName, theirName]: readonly [string, string],
  favored: Favored = null,
): { readonly text: string; readonly isClean: boolean } {
  const parts = joined(partsOf(splitLines(base), splitLines(ours), splitLines(theirs)).flatMap(refined))
  const text = parts
    .map((part) => {
      if (part.kind !== 'conflict') return part.lines.join('')
      if (favored) return part[favored].join('')
      const [one, other] = [closed(part.ours), closed(part.theirs)]
      return `<<<<<<< ${ourName}\n${one}=======\n${other}>>>>>>> ${theirName}\n`
    })
    .join('')
  return { text, isClean: favored !== null || parts.every(({ kind }) => kind !== 'conflict') }
}

function closed(lines: readonly string[]): string {
  const text = lines.join('')
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function partsOf(base: readonly string[], ours: readonly string[], theirs: readonly string[]): Part[] {
  const [left, right] = [diffLines(base, ours), diffLines(base, theirs)]
  const parts: Part[] = []
  let at = 0
  while (left.length > 0 || right.length > 0) {
    const start = Math.min(left[0]?.oldStart ?? base.length, right[0]?.oldStart ?? base.length)
    const [mine, yours]: [Change[], Change[]] = [[], []]
    let end = start
    for (let isGrowing = true; isGrowing; ) {
      isGrowing = false
      for (const [from, to, others] of [
        [left, mine, yours],
        [right, yours, mine],
      ] as const) {
        const next = from[0]
        const isFirst = next && mine.length + yours.length === 0 && next.oldStart === start
        const touches = next && others.some((other) => next.oldStart <= other.oldEnd && other.oldStart <= next.oldEnd)
        if (next && (isFirst || touches)) {
          to.push(next)
          from.shift()
          end = Math.max(end, next.oldEnd)
          isGrowing = true
        }
      }
    }
    if (start > at) parts.push({ kind: 'same', lines: base.slice(at, start) })
    const [one, other] = [sideOf(base, ours, mine, start, end), sideOf(base, theirs, yours, start, end)]
    if (yours.length === 0) parts.push({ kind: 'changed', lines: one })
    else if (mine.length === 0) parts.push({ kind: 'changed', lines: other })
    else if (one.join('') === other.join('')) parts.push({ kind: 'changed', lines: one })
    else parts.push({ kind: 'conflict', ours: one, theirs: other })
    at = end
  }
  if (at < base.length) parts.push({ kind: 'same', lines: base.slice(at) })
  return parts
}

/** Returns what one side has made of some lines of the base. */
function sideOf(
  base: readonly string[],
  side: readonly string[],
  changes: readonly Change[],
  start: number,
  end: number,
): string[] {
  const lines: string[] = []
  let at = start
  for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
    lines.push(...base.slice(at, oldStart), ...side.slice(newStart, newEnd))
    at = oldEnd
  }
  lines.push(...base.slice(at, end))
  return lines
}

/** Returns a conflict without the lines that both sides have. */
function refined(part: Part): Part[] {
  if (part.kind !== 'conflict') return [part]
  const parts: Part[] = []
  let at = 0
  if (part.ours.length === 0 || part.theirs.length === 0) return [part]
  for (const { oldStart, oldEnd, newStart, newEnd } of diffLines(part.ours, part.theirs)) {
    if (oldStart > at) parts.push({ kind: 'same', lines: part.ours.slice(at, oldStart) })
    parts.push({
      kind: 'conflict',
      ours: part.ours.slice(oldStart, oldEnd),
      theirs: part.theirs.slice(newStart, newEnd),
    })
    at = oldEnd
  }
  if (at < part.ours.length) parts.push({ kind: 'same', lines: part.ours.slice(at) })
  return parts
}

/** Joins conflicts with a few lines between them. */
function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = []
  for (const part of parts) {
    const last = all.at(-1)
    const between = last?.kind === 'same' && last.lines.length <= BETWEEN ? last.lines : []
    const before = between.length > 0 ? all.at(-2) : last
    if (part.kind !== 'conflict' || before?.kind !== 'conflict') all.push(part)
    else
      all.splice(between.length > 0 ? -2 : -1, 2, {
        kind: 'conflict',
        ours: [...before.ours, ...between, ...part.ours],
        theirs: [...before.theirs, ...between, ...part.theirs],
      })
  }
  return all
}
