import { compareBytes, isBinary } from '../bytes.ts'
import { compareSides, sidesOf } from '../history/file-changes.ts'
import type { Repository } from '../repository.ts'
import type { IndexEntry } from '../store/index-file.ts'
import { type Files, filesOf, type TreeItem } from '../store/tree.ts'
import { type Favored, mergeTexts } from '../text/merge-texts.ts'
import { entryFor } from './working-files.ts'
import { removeWorking, replaceFiles, same, writeContent } from './write-files.ts'

/** A file that could not be merged. */
interface Conflict {
  readonly path: string
  readonly base: TreeItem | null
  readonly ours: TreeItem | null
  readonly theirs: TreeItem | null
  /** What the working tree gets. */
  readonly content: string
  readonly mode: number
}

/** What came of a merge of trees. */
export interface MergedTrees {
  /** The files without those in conflict. */
  readonly files: Files
  readonly conflicts: readonly Conflict[]
  /** What git says of it. */
  readonly messages: readonly string[]
}

/** The names of the two sides, as marks and messages say them. */
export interface Sides {
  readonly ours: string
  readonly theirs: string
  readonly favored?: Favored
}

/** Merges what two trees have changed of a third. */
export function mergeTrees(
  repo: Repository,
  base: string | null,
  ours: string | null,
  theirs: string | null,
  names: Sides,
): MergedTrees {
  const read = (tree: string | null) => filesOf(repo.objects, tree)
  const all = followRenames(repo, read(base), read(ours), read(theirs))
  const files = new Map<string, TreeItem>()
  const conflicts: Conflict[] = []
  const messages: string[] = []
  for (const path of [...new Set([...all.base.keys(), ...all.ours.keys(), ...all.theirs.keys()])].sort(compareBytes)) {
    const [old, mine, yours] = [all.base.get(path) ?? null, all.ours.get(path) ?? null, all.theirs.get(path) ?? null]
    const taken = same(mine, yours) || same(old, yours) ? mine : same(old, mine) ? yours : undefined
    if (taken !== undefined) {
      if (taken) files.set(path, taken)
      continue
    }
    const conflict = mergeFile(repo, path, old, mine, yours, names, (message) => messages.push(message))
    if ('content' in conflict) conflicts.push(conflict)
    else files.set(path, conflict)
  }
  return { files, conflicts, messages }
}

function mergeFile(
  repo: Repository,
  path: string,
  base: TreeItem | null,
  ours: TreeItem | null,
  theirs: TreeItem | null,
  names: Sides,
  say: (message: string) => void,
): Conflict | TreeItem {
  const blob = (item: TreeItem | null) => (item ? repo.objects.blob(item.id) : '')
  if (!ours || !theirs) {
    const kept = (ours ?? theirs) as TreeItem
    const [gone, there] = ours ? [names.theirs, names.ours] : [names.ours, names.theirs]
    say(
      `CONFLICT (modify/delete): ${path} deleted in ${gone} and modified in ${there}.  Version ${there} of ${path} left in tree.`,
    )
    return { path, base, ours, theirs, content: blob(kept), mode: kept.mode }
  }
  const mode = base && base.mode === ours.mode ? theirs.mode : ours.mode
  if (ours.id === theirs.id || (base && base.id === theirs.id)) return { mode, id: ours.id }
  if (base && base.id === ours.id) return { mode, id: theirs.id }
  say(`Auto-merging ${path}`)
  const [one, other, old] = [blob(ours), blob(theirs), blob(base)]
  if (isBinary(one) || isBinary(other) || isBinary(old)) {
    say(`warning: Cannot merge binary files: ${path} (${names.ours} vs. ${names.theirs})`)
    say(`CONFLICT (${base ? 'content' : 'add/add'}): Merge conflict in ${path}`)
    return { path, base, ours, theirs, content: one, mode }
  }
  const { text, isClean } = mergeTexts(old, one, other, [names.ours, names.theirs], names.favored)
  if (isClean) return { mode, id: repo.objects.write('blob', text) }
  say(`CONFLICT (${base ? 'content' : 'add/add'}): Merge conflict in ${path}`)
  return { path, base, ours, theirs, content: text, mode }
}

/** Returns the files of three trees with each file that one side has renamed under its new name in all. */
function followRenames(repo: Repository, base: Files, ours: Files, theirs: Files) {
  const sides = { base: new Map(base), ours: new Map(ours), theirs: new Map(theirs) }
  const move = (files: Map<string, TreeItem>, from: string, to: string) => {
    const item = files.get(from)
    if (!item || files.has(to)) return
    files.delete(from)
    files.set(to, item)
  }
  for (const [renaming, other] of [
    ['ours', 'theirs'],
    ['theirs', 'ours'],
  ] as const)
    for (const [from, to] of renamesOf(repo, base, renaming === 'ours' ? ours : theirs)) {
      if (!sides.base.has(from) || (sides[other].has(to) && sides[other].has(from))) continue
      move(sides.base, from, to)
      move(sides[other], from, to)
    }
  return sides
}

function renamesOf(repo: Repository, base: Files, side: Files): [string, string][] {
  const without = (files: Files, others: Files) => new Map([...files].filter(([path]) => !others.has(path)))
  return compareSides(sidesOf(repo.objects, without(base, side)), sidesOf(repo.objects, without(side, base))).flatMap(
    ({ kind, before, after }): [string, string][] =>
      kind === 'R' && before && after ? [[before.path, after.path]] : [],
  )
}

/** Writes what came of a merge to the index and the working tree, whose files are those of a tree. */
export function writeMerged(repo: Repository, from: Files, { files, conflicts }: MergedTrees): void {
  const inConflict = new Set(conflicts.map(({ path }) => path))
  const rest = new Map([...from].filter(([path]) => !inConflict.has(path)))
  replaceFiles(repo, rest, files)
  const entries: IndexEntry[] = []
  for (const { path, base, ours, theirs, content, mode } of conflicts) {
    for (const [index, item] of [base, ours, theirs].entries())
      if (item) entries.push(entryFor(repo, path, item, index + 1))
    removeWorking(repo, path)
    writeContent(repo, path, mode, content)
  }
  repo.index.update(inConflict, entries)
}
