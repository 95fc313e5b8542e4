import type { Call } from '../call.ts'
import { fatal } from '../git-error.ts'
import { pathOf } from '../history/file-changes.ts'
import { findCommit, parseRevision, peel, unknownRevision } from '../history/revisions.ts'
import { parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { subjectOf } from '../store/commit.ts'
import { filesOf } from '../store/tree.ts'
import { clearProgress } from '../worktree/progress.ts'
import { entryFor, unstagedChanges } from '../worktree/working-files.ts'
import { assertNothingLost, forceFiles, replaceFiles, same } from '../worktree/write-files.ts'
import { isKnown } from './staging.ts'

export function reset(call: Call): void {
  const options = parseOptions(call.args, 'soft mixed hard keep merge q|quiet p|patch N|intent-to-add')
  if (options.has('patch')) throw fatal('reset -p needs a terminal, which is not here')
  const { repo } = call
  const { operands, paths } = options
  const [first] = operands
  const isRevision = first !== undefined && findTree(repo, first) !== null
  const files = [...operands.slice(isRevision ? 1 : 0), ...(paths ?? [])]
  const target = isRevision ? (first as string) : 'HEAD'
  const mode = ['soft', 'mixed', 'hard', 'keep', 'merge'].find((name) => options.has(name)) ?? 'mixed'
  if (files.length > 0 || paths !== null) {
    if (!isRevision && first !== undefined && paths === null && !isThere(repo, first)) throw unknownRevision(first)
    if (mode !== 'mixed') throw fatal(`Cannot do ${mode} reset with paths.`)
    resetPaths(call, target, files, options.has('quiet'))
    return
  }
  if (repo.headId === null && target === 'HEAD') {
    if (mode === 'hard') forceFiles(repo, new Map())
    else if (mode === 'mixed') repo.index.replace([])
    return
  }
  const id = findCommit(repo, target)
  if (id === null) throw unknownRevision(target)
  const commit = repo.commit(id)
  const to = filesOf(repo.objects, commit.tree)
  if (mode === 'soft' && repo.index.conflicts().size > 0)
    throw fatal('Cannot do a soft reset in the middle of a merge.')
  if (mode === 'hard') forceFiles(repo, to)
  else if (mode === 'keep' || mode === 'merge') {
    const from = filesOf(repo.objects, repo.treeOf(repo.headId))
    assertNothingLost(repo, from, to, 'reset', 128)
    replaceFiles(repo, from, to)
  } else if (mode === 'mixed') repo.index.replace([...to].map(([path, item]) => entryFor(repo, path, item)))
  const before = repo.headId
  if (before !== null) repo.folder.write('ORIG_HEAD', `${before}\n`)
  repo.refs.set('HEAD', id, `reset: moving to ${target}`)
  if (mode !== 'soft') clearProgress(repo)
  if (mode === 'hard' && !options.has('quiet'))
    call.out(`HEAD is now at ${repo.shorten(id)} ${subjectOf(commit.message)}\n`)
  if (mode === 'mixed' && !options.has('quiet')) sayUnstaged(call)
}

function findTree(repo: Repository, text: string): string | null {
  try {
    return peel(repo, parseRevision(repo, text), 'tree')
  } catch {
    return text === 'HEAD' ? '' : null
  }
}

function isThere(repo: Repository, given: string): boolean {
  const path = repo.pathOf(given)
  return path === '' || repo.tree.at(path) !== null || isKnown(repo, given)
}

function resetPaths(call: Call, target: string, given: readonly string[], quiet: boolean): void {
  const { repo } = call
  const filter = repo.filterOf(given)
  const tree = repo.headId === null && target === 'HEAD' ? null : peel(repo, parseRevision(repo, target), 'tree')
  const files = [...filesOf(repo.objects, tree)].filter(([path]) => filter.matches(path))
  const staged = repo.index.entries.map(({ path }) => path).filter((path) => filter.matches(path))
  const entries = files.map(([path, item]) => {
    const known = repo.index.get(path)
    return known && same(known, item) ? known : entryFor(repo, path, item)
  })
  repo.index.update(staged, entries)
  if (!quiet) sayUnstaged(call)
}

function sayUnstaged(call: Call): void {
  const changes = unstagedChanges(call.repo)
  if (changes.length === 0) return
  call.out(`Unstaged changes after reset:\n${changes.map((change) => `${change.kind}\t${pathOf(change)}\n`).join('')}`)
}
