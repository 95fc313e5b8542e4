import type { Repository } from '../repository.ts'
import type { Commit } from '../store/commit.ts'
import { differingFiles } from '../store/tree.ts'
import { EVERY_PATH, type PathFilter } from '../worktree/patterns.ts'
import { compareSides, type FileChange, sidesOf } from './file-changes.ts'

/** Returns what differs between two trees, of the paths of a filter. */
export function treeChanges(
  repo: Repository,
  before: string | null,
  after: string | null,
  filter = EVERY_PATH,
  findRenames = true,
): FileChange[] {
  const { before: old, after: current } = differingFiles(repo.objects, before, after)
  const only = <T>(files: ReadonlyMap<string, T>) =>
    filter.isEmpty ? files : new Map([...files].filter(([path]) => filter.matches(path)))
  return compareSides(sidesOf(repo.objects, only(old)), sidesOf(repo.objects, only(current)), findRenames)
}

/** Returns what a commit has changed of its first parent. */
export function commitChanges(
  repo: Repository,
  { parents, tree }: Commit,
  filter = EVERY_PATH,
  findRenames = true,
): FileChange[] {
  return treeChanges(repo, repo.treeOf(parents[0] ?? null), tree, filter, findRenames)
}

/** Returns whether two trees have the same files at the paths of a filter. */
export function isSameAt(repo: Repository, one: string | null, other: string | null, filter: PathFilter): boolean {
  if (one === other) return true
  const { before, after } = differingFiles(repo.objects, one, other)
  return ![...before.keys(), ...after.keys()].some((path) => filter.matches(path))
}
