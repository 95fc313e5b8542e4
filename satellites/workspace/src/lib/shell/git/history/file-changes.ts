import { compareBytes } from '../bytes.ts'
import type { Objects } from '../store/objects.ts'
import { type Files, SUBMODULE, type TreeItem } from '../store/tree.ts'
import { similarity } from '../text/similarity.ts'

/** What is at a path on one side of a difference. */
export interface Side extends TreeItem {
  readonly path: string
  /** Returns the content. */
  read(): string
  /** Whether the id is that of a file of the working tree, which may be no object. */
  readonly isWorking?: boolean
}

/** A file that differs between two trees, the index, or the working tree. */
export interface FileChange {
  readonly kind: 'A' | 'D' | 'M' | 'T' | 'R' | 'U'
  readonly before: Side | null
  readonly after: Side | null
  /** Percent of what a renamed file has kept. */
  readonly similarity: number
}

export function pathOf({ before, after }: FileChange): string {
  return (after ?? before)?.path ?? ''
}

/** Files as sides of differences. */
export type Sides = ReadonlyMap<string, Side>

/** Returns files of objects as sides of differences. */
export function sidesOf(objects: Objects, files: Files): Map<string, Side> {
  return new Map([...files].map(([path, item]) => [path, sideOf(objects, path, item)]))
}

export function sideOf(objects: Objects, path: string, { mode, id }: TreeItem): Side {
  const read = () => (mode === SUBMODULE ? `Subproject commit ${id}\n` : objects.blob(id))
  return { path, mode, id, read }
}

/** Files that are compared for renames at most, of each kind. */
const MOST_RENAMES = 400

/** Returns what differs between two sides, sorted by path, with renames unless they are not looked for. */
export function compareSides(before: Sides, after: Sides, findRenames = true): FileChange[] {
  const changes: FileChange[] = []
  for (const [path, old] of before) {
    const current = after.get(path) ?? null
    if (!current) changes.push({ kind: 'D', before: old, after: null, similarity: 0 })
    else if (current.id !== old.id || current.mode !== old.mode) {
      const isOther = current.mode >> 12 !== old.mode >> 12
      changes.push({ kind: isOther ? 'T' : 'M', before: old, after: current, similarity: 0 })
    }
  }
  for (const [path, current] of after)
    if (!before.has(path)) changes.push({ kind: 'A', before: null, after: current, similarity: 0 })
  const all = findRenames ? withRenames(changes) : changes
  return all.sort((one, other) => compareBytes(pathOf(one), pathOf(other)))
}

interface Pair {
  readonly from: Side
  readonly to: Side
  readonly similarity: number
}

function withRenames(changes: readonly FileChange[]): FileChange[] {
  const gone = new Set(changes.flatMap(({ kind, before }) => (kind === 'D' && before ? [before] : [])))
  const come = new Set(changes.flatMap(({ kind, after }) => (kind === 'A' && after ? [after] : [])))
  if (gone.size === 0 || come.size === 0) return [...changes]
  const pairs: Pair[] = []
  const pair = (from: Side, to: Side, percent: number) => {
    if (!gone.delete(from) || !come.delete(to)) return
    pairs.push({ from, to, similarity: percent })
  }
  for (const to of [...come]) {
    const same = [...gone].filter((from) => from.id === to.id && from.mode >> 12 === to.mode >> 12)
    const best = same.find((from) => baseName(from) === baseName(to)) ?? same[0]
    if (best) pair(best, to, 100)
  }
  if (gone.size <= MOST_RENAMES && come.size <= MOST_RENAMES)
    for (const each of similarPairs(gone, come)) pair(each.from, each.to, each.similarity)
  const renamed = new Set<Side | null>(pairs.flatMap(({ from, to }) => [from, to]))
  return [
    ...changes.filter(({ before, after }) => !renamed.has(before ?? after) || (before && after)),
    ...pairs.map(({ from, to, similarity }) => ({ kind: 'R' as const, before: from, after: to, similarity })),
  ]
}

/** Returns pairs of files that have at least half of their content in common, the best first. */
function similarPairs(gone: ReadonlySet<Side>, come: ReadonlySet<Side>): Pair[] {
  const texts = new Map([...gone, ...come].map((side) => [side, side.read()]))
  const text = (side: Side) => texts.get(side) as string
  const pairs: (Pair & { readonly hasName: boolean })[] = []
  for (const to of come)
    for (const from of gone) {
      if (from.mode >> 12 !== to.mode >> 12 || text(from) === '' || text(to) === '') continue
      const percent = similarity(text(from), text(to))
      if (percent >= 50) pairs.push({ from, to, similarity: percent, hasName: baseName(from) === baseName(to) })
    }
  // Files that keep their name go first if they are similar enough.
  const keepsName = ({ hasName, similarity }: (typeof pairs)[number]) => hasName && similarity >= 75
  return pairs.sort(
    (one, other) =>
      Number(keepsName(other)) - Number(keepsName(one)) ||
      other.similarity - one.similarity ||
      Number(other.hasName) - Number(one.hasName),
  )
}

function baseName({ path }: Side): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
