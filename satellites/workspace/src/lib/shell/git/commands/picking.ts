import type { Call } from '../call.ts'
import { fatal, GitError } from '../git-error.ts'
import { parseRevisions } from '../history/revision-list.ts'
import { peel } from '../history/revisions.ts'
import { walkCommits } from '../history/walk.ts'
import { type Options, parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { type Commit, cleanMessage, subjectOf } from '../store/commit.ts'
import { filesOf, writeTree } from '../store/tree.ts'
import { mergeTrees, writeMerged } from '../worktree/merge-trees.ts'
import { clearProgress, findProgress } from '../worktree/progress.ts'
import { stagedChanges, stagedFiles } from '../worktree/working-files.ts'
import { assertNothingLost } from '../worktree/write-files.ts'
import { commitTree, summaryOf } from './commit.ts'
import { conflictComment, resetKeeping, withConflicts } from './merge.ts'
import { assertNoConflicts } from './staging.ts'

type Verb = 'cherry-pick' | 'revert'

const OPTIONS =
  'n|no-commit e|edit no-edit x s|signoff m|mainline= continue abort skip quit allow-empty keep-redundant-commits ff'

export const cherryPick = (call: Call): number => pickAll(call, 'cherry-pick')
export const revert = (call: Call): number => pickAll(call, 'revert')

function pickAll(call: Call, verb: Verb): number {
  const options = parseOptions(call.args, OPTIONS)
  const { repo } = call
  if (options.has('abort')) return abort(repo, verb)
  if (options.has('quit')) {
    clearProgress(repo)
    return 0
  }
  if (options.has('continue') || options.has('skip')) return goOn(call, verb, options)
  if (options.operands.length === 0) throw new GitError(`usage: git ${verb} [<options>] <commit-ish>...`, 129)
  const ids = chosen(repo, options)
  const head = repo.headId
  if (head === null) throw fatal(`your current branch '${repo.branch}' does not have any commits yet`)
  if (verb === 'cherry-pick') assertNoConflicts(repo, 'Cherry-picking', 'cherry-pick failed')
  repo.folder.write('sequencer/head', `${head}\n`)
  return pickRest(call, verb, options, ids)
}

function chosen(repo: Repository, options: Options): string[] {
  const list = parseRevisions(repo, options)
  if (list.without.length > 0) {
    const walk = { from: list.from, without: list.without, firstParent: false, topological: true }
    const simplify = ({ parents }: Commit) => ({ parents, isListed: true })
    return [...walkCommits(repo, { ...walk, simplify })].map(({ id }) => id).reverse()
  }
  return list.from.map((id) => {
    const commit = peel(repo, id, 'commit')
    if (commit === null) throw fatal(`${id} is no commit`)
    return commit
  })
}

function pickRest(call: Call, verb: Verb, options: Options, ids: readonly string[]): number {
  const { repo } = call
  for (const [index, id] of ids.entries()) {
    repo.folder.write(
      'sequencer/todo',
      ids
        .slice(index)
        .map((each) => `${verb === 'revert' ? 'revert' : 'pick'} ${each}\n`)
        .join(''),
    )
    const commit = repo.commit(id)
    const mainline = Number(options.value('mainline') ?? 0)
    if (commit.parents.length > 1 && mainline === 0)
      throw new GitError(`error: commit ${id} is a merge but no -m option was given.\nfatal: ${verb} failed`)
    const code = pickOne(call, verb, options, commit, commit.parents[Math.max(0, mainline - 1)] ?? null)
    if (code !== 0) return code
  }
  repo.folder.remove('sequencer')
  return 0
}

function pickOne(call: Call, verb: Verb, options: Options, commit: Commit, parent: string | null): number {
  const { repo } = call
  const isRevert = verb === 'revert'
  const parentTree = repo.treeOf(parent)
  const message = isRevert ? revertMessage(commit, options) : pickMessage(commit, options)
  const merged = applyCommit(repo, isRevert ? commit.tree : parentTree, isRevert ? parentTree : commit.tree, {
    ours: 'HEAD',
    theirs: isRevert ? `parent of ${labelOf(repo, commit)}` : labelOf(repo, commit),
  })
  for (const text of merged.messages) call.out(`${text}\n`)
  if (merged.conflicts.length > 0) {
    repo.folder.write(isRevert ? 'REVERT_HEAD' : 'CHERRY_PICK_HEAD', `${commit.id}\n`)
    repo.folder.write('MERGE_MSG', message + conflictComment(merged))
    throw new GitError(
      `error: could not ${isRevert ? 'revert' : 'apply'} ${titleOf(repo, commit)}\nhint: After resolving the conflicts, mark them with\nhint: "git add/rm <pathspec>", then run\nhint: "git ${verb} --continue".`,
      1,
    )
  }
  if (options.has('no-commit')) {
    if (isRevert) repo.folder.write('REVERT_HEAD', `${commit.id}\n`)
    repo.folder.write('MERGE_MSG', message)
    return 0
  }
  const tree = writeTree(repo.objects, stagedFiles(repo))
  if (tree === repo.treeOf(repo.headId) && !options.has('allow-empty') && !options.has('keep-redundant-commits')) {
    if (!isRevert) {
      repo.folder.write('CHERRY_PICK_HEAD', `${commit.id}\n`)
      repo.folder.write('MERGE_MSG', message)
      call.err(
        "The previous cherry-pick is now empty, possibly due to conflict resolution.\nIf you wish to commit it anyway, use:\n\n    git commit --allow-empty\n\nOtherwise, please use 'git cherry-pick --skip'\n",
      )
    }
    return 1
  }
  commitPicked(call, verb, tree, commit, message)
  return 0
}

function commitPicked(call: Call, verb: Verb, tree: string, from: Commit, message: string): void {
  const { repo } = call
  const author = verb === 'revert' ? repo.signature('AUTHOR') : from.author
  const made = commitTree(repo, tree, { author, message }, `${verb}: ${subjectOf(message)}`)
  call.out(summaryOf(repo, made, true))
}

export function labelOf(repo: Repository, { id, message }: Commit): string {
  return `${repo.shorten(id)} (${subjectOf(message)})`
}

/** Names a commit that could not be applied. */
export function titleOf(repo: Repository, { id, message }: Commit): string {
  return `${repo.shorten(id)}... ${subjectOf(message)}`
}

/** Applies to the working tree and the index what leads from one tree to another. */
export function applyCommit(
  repo: Repository,
  base: string | null,
  theirs: string | null,
  names: { readonly ours: string; readonly theirs: string },
) {
  const ours = repo.treeOf(repo.headId)
  const index = writeTree(repo.objects, stagedFiles(repo))
  const staged = stagedChanges(repo, ours, false)
  const from = filesOf(repo.objects, index)
  const merged = mergeTrees(repo, base, index, theirs, names)
  const verb = names.theirs.startsWith('parent of') ? 'revert' : 'cherry-pick'
  if (staged.length > 0)
    throw new GitError(
      `error: your local changes would be overwritten by ${verb}.\nhint: commit your changes or stash them to proceed.\nfatal: ${verb} failed`,
    )
  assertNothingLost(repo, from, withConflicts(merged), 'merge')
  writeMerged(repo, from, merged)
  return merged
}

function revertMessage({ id, message, parents }: Commit, options: Options): string {
  const mainline =
    parents.length > 1 ? `, reversing\nchanges made to ${parents[Number(options.value('mainline')) - 1]}` : ''
  return `Revert "${subjectOf(message)}"\n\nThis reverts commit ${id}${mainline}.\n`
}

function pickMessage({ id, message }: Commit, options: Options): string {
  if (!options.has('x')) return message
  const isTrailed = /\n\n(?:.*\n)*[\w-]+: .*\n$/.test(message)
  return `${message}${isTrailed ? '' : '\n'}(cherry picked from commit ${id})\n`
}

function abort(repo: Repository, verb: Verb): number {
  const head = repo.folder.read('sequencer/head')?.trim()
  const progress = findProgress(repo)
  if (head === undefined || progress?.kind !== verb)
    throw new GitError(`error: no cherry-pick or revert in progress\nfatal: ${verb} failed`)
  resetKeeping(repo, head)
  if (repo.headId !== head) repo.refs.set('HEAD', head, `reset: moving to ${head}`)
  clearProgress(repo)
  return 0
}

function goOn(call: Call, verb: Verb, options: Options): number {
  const { repo } = call
  const progress = findProgress(repo)
  if (progress?.kind !== verb) throw new GitError(`error: no cherry-pick or revert in progress\nfatal: ${verb} failed`)
  const todo = (repo.folder.read('sequencer/todo') ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.slice(line.indexOf(' ') + 1))
  if (options.has('skip')) resetKeeping(repo, repo.headId as string)
  else {
    assertNoConflicts(repo, 'Committing')
    const from = repo.commit(progress.id)
    const message = cleanMessage(repo.folder.read('MERGE_MSG') ?? from.message, true)
    commitPicked(call, verb, writeTree(repo.objects, stagedFiles(repo)), from, message)
  }
  const head = repo.folder.read('sequencer/head')
  clearProgress(repo)
  if (head !== null && todo.length > 1) repo.folder.write('sequencer/head', head)
  return pickRest(call, verb, options, todo.slice(1))
}
