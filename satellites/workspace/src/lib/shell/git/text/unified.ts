import { splitLines } from '../bytes.ts'
import { type Change, diffLines } from './diff-lines.ts'

/** Columns of the heading of a hunk. */
const HEADING = 80

/** Returns the hunks of a diff in unified format, with some unchanged lines around each; the empty text for none. */
export function unifiedHunks(before: string, after: string, around: number): string {
  const [old, current] = [splitLines(before), splitLines(after)]
  return groupsOf(diffLines(old, current), around)
    .map((group) => hunk(group, old, current, around))
    .join('')
}

/** Returns the changes in groups, each for a hunk: those whose surroundings meet are together. */
function groupsOf(changes: readonly Change[], around: number): Change[][] {
  const groups: Change[][] = []
  for (const change of changes) {
    const last = groups.at(-1)
    if (last && change.oldStart - (last.at(-1) as Change).oldEnd <= 2 * around) last.push(change)
    else groups.push([change])
  }
  return groups
}

function hunk(group: readonly Change[], old: readonly string[], current: readonly string[], around: number): string {
  const [first, last] = [group[0] as Change, group.at(-1) as Change]
  const above = Math.min(around, first.oldStart)
  const below = Math.min(around, old.length - last.oldEnd)
  const [oldStart, oldEnd] = [first.oldStart - above, last.oldEnd + below]
  const [newStart, newEnd] = [first.newStart - above, last.newEnd + below]
  const lines: string[] = []
  const add = (mark: string, some: readonly string[]) => {
    for (const line of some)
      lines.push(line.endsWith('\n') ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`)
  }
  let at = oldStart
  for (const change of group) {
    add(' ', old.slice(at, change.oldStart))
    add('-', old.slice(change.oldStart, change.oldEnd))
    add('+', current.slice(change.newStart, change.newEnd))
    at = change.oldEnd
  }
  add(' ', old.slice(at, oldEnd))
  const heading = headingOf(old, oldStart)
  return `@@ -${range(oldStart, oldEnd)} +${range(newStart, newEnd)} @@${heading ? ` ${heading}` : ''}\n${lines.join('')}`
}

function range(start: number, end: number): string {
  const count = end - start
  return count === 1 ? String(start + 1) : `${count === 0 ? start : start + 1},${count}`
}

/** Returns the last line before a hunk that looks like the beginning of a function. */
function headingOf(lines: readonly string[], before: number): string {
  for (let i = before - 1; i >= 0; i--) {
    const line = lines[i] as string
    if (/^[A-Za-z_$]/.test(line)) return line.slice(0, HEADING).trimEnd()
  }
  return ''
}

/** Returns how many lines a diff adds and removes. */
export function countChanges(before: string, after: string): { readonly added: number; readonly removed: number } {
  let [added, removed] = [0, 0]
  for (const change of diffLines(splitLines(before), splitLines(after))) {
    added += change.newEnd - change.newStart
    removed += change.oldEnd - change.oldStart
  }
  return { added, removed }
}
