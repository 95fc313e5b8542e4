import { fromByteString, isBinary, quotedPath } from '../bytes.ts'
import { type FileChange, pathOf } from '../history/file-changes.ts'
import { countChanges } from './unified.ts'

/** Columns of a page. */
const WIDTH = 80

interface Counted {
  readonly name: string
  readonly added: number
  readonly removed: number
  /** The bytes before and after of a binary file. */
  readonly bytes: readonly [number, number] | null
  readonly isUnmerged: boolean
}

/** Returns how much each file has changed, with a graph of plus and minus signs. */
export function formatStat(changes: readonly FileChange[]): string {
  const counted = changes.map(countOf)
  const most = Math.max(0, ...counted.map(({ added, removed, bytes }) => (bytes ? 0 : added + removed)))
  const binary = counted.some(({ bytes }) => bytes)
  const names = counted.map(({ name }) => name)
  const numbers = Math.max(String(most).length, binary ? 3 : 0)
  let nameWidth = Math.max(0, ...names.map(widthOf))
  const binaryWidth = Math.max(
    0,
    ...counted.map(({ bytes }) => (bytes ? 14 + String(bytes[1]).length + String(bytes[0]).length : 0)),
  )
  let graph = most
  if (binaryWidth > most + numbers + 1 && binary) graph = Math.max(graph, binaryWidth - numbers - 1)
  if (nameWidth + numbers + 6 + graph > WIDTH) {
    const share = Math.floor((WIDTH * 3) / 8) - numbers - 6
    if (graph > share) graph = Math.max(6, share)
    if (nameWidth > WIDTH - numbers - 6 - graph) nameWidth = WIDTH - numbers - 6 - graph
    else graph = WIDTH - numbers - 6 - nameWidth
  }
  const lines = counted.map((each) => {
    const name = fitted(each.name, nameWidth)
    if (each.isUnmerged) return ` ${name} | ${'Unmerged'.padStart(numbers)}`
    if (each.bytes) {
      const [from, to] = each.bytes
      return ` ${name} | ${'Bin'.padStart(numbers)}${from === 0 && to === 0 ? '' : ` ${from} -> ${to} bytes`}`
    }
    return ` ${name} | ${String(each.added + each.removed).padStart(numbers)}${signs(each, graph, most)}`
  })
  return lines.length === 0 ? '' : `${lines.join('\n')}\n${totalOf(counted)}`
}

/** Returns the line with how many files and lines have changed; the empty text for none. */
export function formatShortStat(changes: readonly FileChange[]): string {
  return changes.length === 0 ? '' : totalOf(changes.map(countOf))
}

/** Returns the added and removed lines of each file, for programs. */
export function formatNumStat(changes: readonly FileChange[]): string {
  return changes
    .map(countOf)
    .map(({ name, added, removed, bytes }) => `${bytes ? '-\t-' : `${added}\t${removed}`}\t${name}\n`)
    .join('')
}

/** Returns the files that were created, deleted, renamed, or have another mode. */
export function formatModes(changes: readonly FileChange[]): string {
  return changes
    .flatMap((change): string[] => {
      const { before, after } = change
      if (change.kind === 'R')
        return [
          ` rename ${renamed(before?.path ?? '', after?.path ?? '')} (${change.similarity}%)`,
          ...modeChange(change),
        ]
      if (!before) return [` create mode ${after?.mode.toString(8)} ${quotedPath(after?.path ?? '')}`]
      if (!after) return [` delete mode ${before.mode.toString(8)} ${quotedPath(before.path)}`]
      return modeChange(change)
    })
    .map((line) => `${line}\n`)
    .join('')
}

function modeChange({ kind, before, after }: FileChange): string[] {
  if (!before || !after || before.mode === after.mode) return []
  const path = kind === 'R' ? '' : ` ${quotedPath(after.path)}`
  return [` mode change ${before.mode.toString(8)} => ${after.mode.toString(8)}${path}`]
}

function countOf(change: FileChange): Counted {
  const { kind, before, after } = change
  const name = kind === 'R' ? renamed(before?.path ?? '', after?.path ?? '') : quotedPath(pathOf(change))
  if (kind === 'U') return { name, added: 0, removed: 0, bytes: null, isUnmerged: true }
  const [old, current] = [before?.read() ?? '', after?.read() ?? '']
  const isSame = before?.id === after?.id
  if (isBinary(old) || isBinary(current))
    return { name, added: 0, removed: 0, bytes: isSame ? [0, 0] : [old.length, current.length], isUnmerged: false }
  return { name, ...(isSame ? { added: 0, removed: 0 } : countChanges(old, current)), bytes: null, isUnmerged: false }
}

function totalOf(counted: readonly Counted[]): string {
  const files = counted.filter(({ isUnmerged }) => !isUnmerged).length
  const added = counted.reduce((sum, each) => sum + each.added, 0)
  const removed = counted.reduce((sum, each) => sum + each.removed, 0)
  const parts = [` ${files} file${files === 1 ? '' : 's'} changed`]
  if (added > 0 || removed === 0) parts.push(`${added} insertion${added === 1 ? '' : 's'}(+)`)
  if (removed > 0 || added === 0) parts.push(`${removed} deletion${removed === 1 ? '' : 's'}(-)`)
  return `${parts.join(', ')}\n`
}

function signs({ added, removed }: Counted, graph: number, most: number): string {
  if (added + removed === 0) return ''
  let [plus, minus] = [added, removed]
  if (graph <= most) {
    const scaled = (count: number) => (count === 0 ? 0 : 1 + Math.floor((count * (graph - 1)) / most))
    let total = scaled(added + removed)
    if (total < 2 && added > 0 && removed > 0) total = 2
    if (added < removed) {
      plus = scaled(added)
      minus = total - plus
    } else {
      minus = scaled(removed)
      plus = total - minus
    }
  }
  return ` ${'+'.repeat(plus)}${'-'.repeat(minus)}`
}

function widthOf(name: string): number {
  return fromByteString(name).length
}

function fitted(name: string, width: number): string {
  const length = widthOf(name)
  if (length <= width) return name + ' '.repeat(width - length)
  const rest = name.slice(name.length - (width - 3))
  const slash = rest.indexOf('/')
  return `...${slash < 0 ? rest : rest.slice(slash)}`.padEnd(width)
}

/** Returns a renaming with what both paths have in common said once. */
function renamed(from: string, to: string): string {
  if (quotedPath(from) !== from || quotedPath(to) !== to) return `${quotedPath(from)} => ${quotedPath(to)}`
  let start = 0
  for (let i = 0; i < from.length && from[i] === to[i]; i++) if (from[i] === '/') start = i + 1
  let end = 0
  const least = Math.min(from.length, to.length) - (start > 0 ? start - 1 : 0)
  for (let i = 1; i <= least && from.at(-i) === to.at(-i); i++) if (from.at(-i) === '/') end = i
  if (start === 0 && end === 0) return `${from} => ${to}`
  const middle = (path: string) => path.slice(start, Math.max(start, path.length - end))
  return `${from.slice(0, start)}{${middle(from)} => ${middle(to)}}${from.slice(from.length - end)}`
}
