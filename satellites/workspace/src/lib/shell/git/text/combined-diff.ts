import { quotedPath, splitLines } from '../bytes.ts'
import type { Repository } from '../repository.ts'
import { workingSide } from '../worktree/working-files.ts'
import { diffLines } from './diff-lines.ts'

const AROUND = 3

/** A line of the result, with the lines before it that one or both sides have and it has not. */
interface Row {
  readonly lost: readonly { readonly line: string; readonly sides: readonly [boolean, boolean] }[]
  readonly line: string | null
  /** Whether each side lacks the line. */
  readonly isNew: readonly [boolean, boolean]
}

/** Returns how a file in conflict differs from both sides. */
export function combinedDiff(repo: Repository, path: string): string {
  const stages = repo.index.conflicts().get(path) ?? {}
  const working = workingSide(repo, path)
  const [ours, theirs] = [stages[2], stages[3]]
  const name = quotedPath(path)
  if (!ours || !theirs) return `* Unmerged path ${name}\n`
  const short = (id: string) => repo.shorten(id)
  const head = `diff --cc ${name}\nindex ${short(ours.id)},${short(theirs.id)}..0000000\n--- a/${name}\n+++ b/${name}\n`
  if (!working) return `${head}`
  const rows = rowsOf(
    splitLines(repo.objects.blob(ours.id)),
    splitLines(repo.objects.blob(theirs.id)),
    splitLines(working.read()),
  )
  const hunks = hunksOf(rows)
  return hunks === '' ? `diff --cc ${name}\nindex ${short(ours.id)},${short(theirs.id)}..0000000\n` : head + hunks
}

function rowsOf(ours: readonly string[], theirs: readonly string[], result: readonly string[]): Row[] {
  const sides = [ours, theirs].map((side) => {
    const isNew = new Uint8Array(result.length)
    const lost = new Map<number, string[]>()
    for (const { oldStart, oldEnd, newStart, newEnd } of diffLines(side, result)) {
      isNew.fill(1, newStart, newEnd)
      if (oldEnd > oldStart) lost.set(newStart, side.slice(oldStart, oldEnd))
    }
    return { isNew, lost }
  })
  const [one, other] = sides as [(typeof sides)[number], (typeof sides)[number]]
  return Array.from({ length: result.length + 1 }, (_, at) => ({
    lost: joinLost(one.lost.get(at) ?? [], other.lost.get(at) ?? []),
    line: result[at] ?? null,
    isNew: [one.isNew[at] === 1, other.isNew[at] === 1],
  }))
}

function joinLost(ours: readonly string[], theirs: readonly string[]): Row['lost'] {
  const left = [...theirs]
  const lost: { line: string; sides: [boolean, boolean] }[] = []
  for (const line of ours) {
    const at = left.indexOf(line)
    if (at >= 0)
      lost.push(...left.splice(0, at).map((each) => ({ line: each, sides: [false, true] as [boolean, boolean] })))
    if (at >= 0) left.shift()
    lost.push({ line, sides: [true, at >= 0] })
  }
  return [...lost, ...left.map((line) => ({ line, sides: [false, true] as [boolean, boolean] }))]
}

function hunksOf(rows: readonly Row[]): string {
  const isChanged = (row: Row) => row.lost.length > 0 || row.isNew[0] || row.isNew[1]
  const groups: [number, number][] = []
  for (const [at, row] of rows.entries()) {
    if (!isChanged(row)) continue
    const [start, end] = [
      Math.max(0, at - AROUND),
      Math.min(rows.length - 1, at + (row.line === null || (!row.isNew[0] && !row.isNew[1]) ? AROUND : AROUND + 1)),
    ]
    const last = groups.at(-1)
    if (last && start <= last[1]) last[1] = Math.max(last[1], end)
    else groups.push([start, end])
  }
  // A group that differs from one side alone is left out.
  return groups
    .filter(([start, end]) =>
      [0, 1].every((side) =>
        rows.slice(start, end).some((row) => row.isNew[side] || row.lost.some(({ sides }) => sides[side])),
      ),
    )
    .map(([start, end]) => hunkOf(rows, start, end))
    .join('')
}

function hunkOf(rows: readonly Row[], start: number, end: number): string {
  const lines: string[] = []
  const counts: [number, number, number] = [0, 0, 0]
  const before = [0, 1].map((side) => positionOf(rows, start, side))
  for (const [index, { lost, line, isNew }] of rows.slice(start, end + 1).entries()) {
    const isLast = start + index === end
    for (const { line: gone, sides } of lost) {
      if (isLast && line !== null) continue
      lines.push(`${sides[0] ? '-' : ' '}${sides[1] ? '-' : ' '}${gone}`)
      if (sides[0]) counts[0] += 1
      if (sides[1]) counts[1] += 1
    }
    if (line === null || isLast) continue
    lines.push(`${isNew[0] ? '+' : ' '}${isNew[1] ? '+' : ' '}${line}`)
    if (!isNew[0]) counts[0] += 1
    if (!isNew[1]) counts[1] += 1
    counts[2] += 1
  }
  const range = (from: number, count: number) => `${count === 0 ? from : from + 1},${count}`
  const text = lines.map((line) => (line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`)).join('')
  return `@@@ -${range(before[0] as number, counts[0])} -${range(before[1] as number, counts[1])} +${range(start, counts[2])} @@@\n${text}`
}

/** Returns how many lines a side has before a row. */
function positionOf(rows: readonly Row[], before: number, side: number): number {
  let count = 0
  for (const { lost, isNew } of rows.slice(0, before)) {
    count += lost.filter(({ sides }) => sides[side]).length
    if (!isNew[side]) count += 1
  }
  return count
}
