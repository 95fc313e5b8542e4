import { quotedPath } from '../bytes.ts'
import { GitError } from '../git-error.ts'
import type { Repository } from '../repository.ts'
import { parentOf } from '../store/folder.ts'
import type { IndexEntry } from '../store/index-file.ts'
import { type Files, LINK, SUBMODULE, type TreeItem } from '../store/tree.ts'
import { entryFor, workingSide } from './working-files.ts'

/** Writes a file of the working tree. */
export function writeWorking(repo: Repository, path: string, { mode, id }: TreeItem): void {
  if (mode === SUBMODULE) repo.tree.makeDirectory(path)
  else writeContent(repo, path, mode, repo.objects.blob(id))
}

export function writeContent(repo: Repository, path: string, mode: number, content: string): void {
  clearWay(repo, path)
  if (mode === LINK) {
    repo.tree.remove(path)
    repo.tree.link(path, content)
    return
  }
  if (repo.tree.at(path)?.kind === 'link') repo.tree.remove(path)
  repo.tree.write(path, content, mode & 0o777)
}

/** Removes a file where a directory is needed, and a directory where the file is. */
function clearWay(repo: Repository, path: string): void {
  for (let above = parentOf(path); above !== ''; above = parentOf(above)) {
    const kind = repo.tree.at(above)?.kind
    if (kind === 'directory') break
    if (kind) repo.tree.remove(above)
  }
  if (repo.tree.at(path)?.kind === 'directory') repo.tree.remove(path)
}

/** Removes a file of the working tree, with the directories that are empty then. */
export function removeWorking(repo: Repository, path: string): void {
  if (repo.tree.at(path)?.kind === 'directory') return
  repo.tree.remove(path)
  repo.tree.removeEmptyAbove(path)
}

/** Returns what would be lost if the files of one tree were replaced by those of another: changes, untracked files. */
function findInTheWay(repo: Repository, from: Files, to: Files) {
  const [changed, untracked]: [string[], string[]] = [[], []]
  const rules = repo.ignoredFiles()
  for (const path of differingPaths(from, to)) {
    const [old, current, entry] = [from.get(path), to.get(path), repo.index.get(path)]
    const working = workingSide(repo, path)
    if (same(entry, current)) continue
    if (entry && !same(entry, old)) changed.push(path)
    else if (!entry && old) {
      // It was removed from the index: if it is there, it is untracked.
      if (working && current) untracked.push(path)
      else if (current) changed.push(path)
    } else if (!entry) {
      if (working && current && working.id !== current.id && !rules.has(path, false)) untracked.push(path)
      else if (!working && repo.tree.at(path)?.kind === 'directory' && !isTrackedFolder(from, path))
        untracked.push(path)
    } else if (working && !same(working, entry)) changed.push(path)
    else if (working === null && current && repo.tree.at(path)?.kind === 'directory') untracked.push(path)
  }
  return { changed, untracked }
}

function isTrackedFolder(files: Files, path: string): boolean {
  for (const each of files.keys()) if (each.startsWith(`${path}/`)) return true
  return false
}

function differingPaths(from: Files, to: Files): string[] {
  return [...new Set([...from.keys(), ...to.keys()])].filter((path) => !same(from.get(path), to.get(path))).sort()
}

export function same(one: TreeItem | null | undefined, other: TreeItem | null | undefined): boolean {
  return one?.id === other?.id && one?.mode === other?.mode
}

/** Throws if something would be lost by an action that replaces the files of one tree by those of another. */
export function assertNothingLost(
  repo: Repository,
  from: Files,
  to: Files,
  action: 'checkout' | 'merge' | 'reset',
  exitCode = 1,
): void {
  const { changed, untracked } = findInTheWay(repo, from, to)
  const advice = action === 'checkout' ? 'switch branches' : action
  const list = (paths: readonly string[]) => paths.map((path) => `\t${quotedPath(path)}\n`).join('')
  const parts: string[] = []
  if (changed.length > 0)
    parts.push(
      `error: Your local changes to the following files would be overwritten by ${action}:\n${list(changed)}Please commit your changes or stash them before you ${advice}.`,
    )
  if (untracked.length > 0)
    parts.push(
      `error: The following untracked working tree files would be overwritten by ${action}:\n${list(untracked)}Please move or remove them before you ${advice}.`,
    )
  if (parts.length > 0) throw new GitError([...parts, 'Aborting'].join('\n'), exitCode)
}

/**
 * Replaces the files of one tree by those of another, in the index and in the working tree. What both have alike stays
 * as it is, with its changes. Check what would be lost before.
 */
export function replaceFiles(repo: Repository, from: Files, to: Files): void {
  const paths = differingPaths(from, to)
  for (const path of paths) if (!to.has(path) && !isTrackedFolder(to, path)) removeWorking(repo, path)
  const entries: IndexEntry[] = []
  for (const path of paths) {
    const item = to.get(path)
    if (!item) continue
    if (!same(workingSide(repo, path), item)) writeWorking(repo, path, item)
    entries.push(entryFor(repo, path, item))
  }
  repo.index.update(paths, entries)
}

/** Makes the index and the working tree those of some files, whatever they were, but for entries that stay. */
export function forceFiles(repo: Repository, to: Files, kept: readonly IndexEntry[] = []): void {
  const keeps = new Set(kept)
  for (const entry of repo.index.entries) if (!to.has(entry.path) && !keeps.has(entry)) removeWorking(repo, entry.path)
  const entries = [...to].map(([path, item]) => {
    if (!same(workingSide(repo, path), item)) writeWorking(repo, path, item)
    return entryFor(repo, path, item)
  })
  repo.index.replace([...entries, ...kept])
}
