import type { Call } from '../call.ts'
import { fatal, GitError } from '../git-error.ts'
import { compareSides, type FileChange, pathOf, type Side, sidesOf } from '../history/file-changes.ts'
import { parseRevisions } from '../history/revision-list.ts'
import { peel } from '../history/revisions.ts'
import { treeChanges } from '../history/tree-changes.ts'
import { parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { filesOf } from '../store/tree.ts'
import { combinedDiff } from '../text/combined-diff.ts'
import { DIFF_OPTIONS, diffOutputOf, formatDiff } from '../text/diff-output.ts'
import type { PathFilter } from '../worktree/patterns.ts'
import { stagedChanges, unstagedSides, workingSide } from '../worktree/working-files.ts'

export function diff(call: Call): number {
  const options = parseOptions(
    call.args,
    `${DIFF_OPTIONS} staged|cached exit-code q|quiet merge-base no-index ours theirs base`,
  )
  if (options.has('no-index')) throw fatal('diff --no-index is not available here; use diff -u')
  const { repo } = call
  const output = diffOutputOf(options, ['patch'])
  const { given, paths, ...revisions } = parseRevisions(repo, options)
  const filter = repo.filterOf(paths)
  const trees = treesOf(repo, given, revisions)
  const conflicts = [...repo.index.conflicts().keys()].filter((path) => filter.matches(path))
  let changes: FileChange[]
  let text = ''
  if (trees.length >= 2) changes = treeChanges(repo, trees[0] as string, trees[1] as string, filter, output.findRenames)
  else if (options.has('cached')) {
    const tree = trees[0] ?? repo.treeOf(repo.headId)
    const only = (change: FileChange) => filter.matches(pathOf(change))
    changes = stagedChanges(repo, tree, output.findRenames && filter.isEmpty).filter(only)
    if (output.parts.includes('patch')) text = conflicts.map((path) => `* Unmerged path ${path}\n`).join('')
  } else if (trees.length === 1) changes = changesOfWorking(repo, trees[0] as string, filter, output.findRenames)
  else {
    const { before, after } = unstagedSides(
      repo,
      repo.index.entries.filter(({ path }) => filter.matches(path)),
    )
    changes = compareSides(before, after, output.findRenames)
    changes.push(...conflicts.map((path) => unmerged(path)))
    changes.sort((one, other) => (pathOf(one) < pathOf(other) ? -1 : 1))
    if (output.parts.length === 1 && output.parts[0] === 'patch') {
      for (const change of changes)
        text += change.kind === 'U' ? combinedDiff(repo, pathOf(change)) : formatDiff(repo, [change], output)
      if (!options.has('quiet')) call.out(text)
      return (options.has('exit-code') || options.has('quiet')) && changes.length > 0 ? 1 : 0
    }
  }
  if (!options.has('quiet')) call.out(text + formatDiff(repo, changes, output))
  return (options.has('exit-code') || options.has('quiet')) && changes.length > 0 ? 1 : 0
}

function unmerged(path: string): FileChange {
  const side: Side = { path, mode: 0, id: '', read: () => '' }
  return { kind: 'U', before: null, after: side, similarity: 0 }
}

/** Returns the trees that are compared: none, one with the working tree or the index, or two. */
function treesOf(
  repo: Repository,
  given: readonly string[],
  { from, without }: { readonly from: readonly string[]; readonly without: readonly string[] },
): string[] {
  const tree = (id: string) => {
    const found = peel(repo, id, 'tree')
    if (found === null) throw fatal(`object ${id} is no tree`)
    return found
  }
  if (given.length === 1 && /\.\./.test(given[0] as string))
    return [tree((without[0] ?? from[0]) as string), tree(from.at(-1) as string)]
  if (given.length > 2) throw new GitError('usage: git diff [<options>] [<commit>] [--] [<path>...]', 129)
  return from.map(tree)
}

/** Returns what the working tree has changed of a tree, of the files in the index. */
function changesOfWorking(repo: Repository, tree: string, filter: PathFilter, findRenames: boolean): FileChange[] {
  const before = [...filesOf(repo.objects, tree)].filter(([path]) => filter.matches(path))
  const after = new Map<string, Side>()
  for (const { path } of repo.index.entries) {
    const working = filter.matches(path) ? workingSide(repo, path) : null
    if (working) after.set(path, working)
  }
  return compareSides(sidesOf(repo.objects, new Map(before)), after, findRenames)
}
