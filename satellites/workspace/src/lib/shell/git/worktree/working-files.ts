import type { Node } from '../../../disk/edited-disk.ts'
import { toBytes } from '../../../disk/file-content.ts'
import { toByteString } from '../bytes.ts'
import { compareSides, type FileChange, type Side, sideOf, sidesOf } from '../history/file-changes.ts'
import type { Repository } from '../repository.ts'
import { Folder, parentOf } from '../store/folder.ts'
import type { IndexEntry } from '../store/index-file.ts'
import { idOf } from '../store/objects.ts'
import { type Files, filesOf, LINK, SUBMODULE, type TreeItem } from '../store/tree.ts'
import type { IgnoredFiles } from './ignored-files.ts'

const FILE = 0o100644
const PROGRAM = 0o100755

/** Returns what the working tree has at a path; `null` for nothing, or a directory. */
export function workingSide(repo: Repository, path: string): Side | null {
  const node = hasLinkAbove(repo, path) ? null : repo.tree.at(path)
  if (!node || node.kind === 'directory') return null
  let id: string | null = null
  const read = () => contentOf(node)
  return {
    path,
    mode: node.kind === 'link' ? LINK : modeOf(repo, path, node),
    isWorking: true,
    read,
    get id() {
      id ??= idOf('blob', read())
      return id
    },
  }
}

function modeOf(repo: Repository, path: string, { mode }: Node): number {
  if (!repo.config.isOn('core.filemode', true)) return repo.index.get(path)?.mode ?? FILE
  return mode & 0o100 ? PROGRAM : FILE
}

/** Whether a path leads over a link: what is there belongs to another place. */
function hasLinkAbove(repo: Repository, path: string): boolean {
  for (let above = parentOf(path); above !== ''; above = parentOf(above))
    if (repo.tree.at(above)?.kind === 'link') return true
  return false
}

function contentOf(node: Node): string {
  if (node.kind === 'link') return toByteString(node.target)
  return node.kind === 'file' ? Buffer.from(toBytes(node.content)).toString('latin1') : ''
}

/** Returns the files that the working tree has otherwise than the index, or lacks, as the index and it have them. */
export function unstagedSides(repo: Repository, entries: readonly IndexEntry[]) {
  const [before, after] = [new Map<string, Side>(), new Map<string, Side>()]
  for (const entry of entries) {
    if (entry.stage > 0 || entry.mode === SUBMODULE) continue
    const working = workingSide(repo, entry.path)
    if (working?.mode === entry.mode && isSame(repo, entry, working)) continue
    before.set(entry.path, sideOf(repo.objects, entry.path, entry))
    if (working) after.set(entry.path, working)
  }
  return { before, after }
}

function isSame(repo: Repository, { path, size, id }: IndexEntry, working: Side): boolean {
  const node = repo.tree.at(path)
  // Indexes of other programs may say no size.
  return (size === 0 || (node !== null && Folder.sizeOf(node) === size)) && working.id === id
}

/** Returns what the working tree has changed of the index. */
export function unstagedChanges(repo: Repository): FileChange[] {
  const { before, after } = unstagedSides(repo, repo.index.entries)
  return compareSides(before, after, false)
}

/** Returns the files of the index, without those in conflict. */
export function stagedFiles(repo: Repository): Map<string, TreeItem> {
  return new Map(repo.index.entries.filter(({ stage }) => stage === 0).map((entry) => [entry.path, entry]))
}

/** Returns what the index has changed of a tree. */
export function stagedChanges(repo: Repository, tree: string | null, findRenames = true): FileChange[] {
  const conflicts = repo.index.conflicts()
  const before = [...filesOf(repo.objects, tree)].filter(([path]) => !conflicts.has(path))
  const sides = (files: Files) => sidesOf(repo.objects, files)
  return compareSides(sides(new Map(before)), sides(stagedFiles(repo)), findRenames)
}

/** Returns the entry of the index for a file of the working tree, whose content becomes an object. */
export function toIndexEntry(repo: Repository, side: Side): IndexEntry {
  return entryFor(repo, side.path, { mode: side.mode, id: repo.objects.write('blob', side.read()) })
}

/** Returns the entry of the index for a file that the working tree has, or will have. */
export function entryFor(repo: Repository, path: string, { mode, id }: TreeItem, stage = 0): IndexEntry {
  const node = stage === 0 ? repo.tree.at(path) : null
  return {
    path,
    id,
    mode,
    stage,
    size: stage === 0 && mode !== SUBMODULE ? repo.objects.blob(id).length : 0,
    modified: node?.modified ?? 0,
  }
}

/**
 * Returns what is in the working tree and not in the index, sorted. Lists files with `all`, else a directory, with a
 * slash at its end, for all that is in it. With `ignored`, lists what is ignored, and not what is not.
 */
export function untrackedFiles(
  repo: Repository,
  { all, ignored = false }: { readonly all: boolean; readonly ignored?: boolean },
): string[] {
  const tracked = new Set<string>()
  for (const { path } of repo.index.entries) {
    tracked.add(path)
    for (let above = parentOf(path); above !== '' && !tracked.has(above); above = parentOf(above)) tracked.add(above)
  }
  const rules = repo.ignoredFiles()
  const found: string[] = []
  const collect = (directory: string) => {
    for (const name of repo.tree.list(directory)) {
      if (name === '.git') continue
      const path = directory === '' ? name : `${directory}/${name}`
      const isDirectory = repo.tree.at(path)?.kind === 'directory'
      if (isDirectory && tracked.has(path)) collect(path)
      else if (!isDirectory && tracked.has(path)) continue
      else if (rules.has(path, isDirectory)) {
        if (ignored && (!isDirectory || hasFiles(repo, path, null))) found.push(isDirectory ? `${path}/` : path)
      } else if (!isDirectory) {
        if (!ignored) found.push(path)
      } else if (isRepository(repo, path)) {
        if (!ignored) found.push(`${path}/`)
      } else if (all || ignored) collect(path)
      else if (hasFiles(repo, path, rules)) found.push(`${path}/`)
    }
  }
  collect('')
  return found.sort()
}

/** Whether a directory has a file at any depth that is not ignored. */
function hasFiles(repo: Repository, directory: string, rules: IgnoredFiles | null): boolean {
  return repo.tree.list(directory).some((name) => {
    const path = `${directory}/${name}`
    const isDirectory = repo.tree.at(path)?.kind === 'directory'
    if (rules?.has(path, isDirectory)) return false
    return !isDirectory || isRepository(repo, path) || hasFiles(repo, path, rules)
  })
}

function isRepository(repo: Repository, path: string): boolean {
  return repo.tree.isFile(`${path}/.git/HEAD`)
}
