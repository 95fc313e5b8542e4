import type { Call } from '../call.ts'
import { fatal, GitError } from '../git-error.ts'
import { pathOf } from '../history/file-changes.ts'
import { findCommit } from '../history/revisions.ts'
import { treeChanges } from '../history/tree-changes.ts'
import { isAncestor, mergeBases } from '../history/walk.ts'
import { type Options, parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { cleanMessage } from '../store/commit.ts'
import { type Files, filesOf, writeTree } from '../store/tree.ts'
import { formatModes, formatStat } from '../text/change-summary.ts'
import type { Favored } from '../text/merge-texts.ts'
import { type MergedTrees, mergeTrees, writeMerged } from '../worktree/merge-trees.ts'
import { clearProgress, findProgress } from '../worktree/progress.ts'
import { stagedChanges } from '../worktree/working-files.ts'
import { assertNothingLost, forceFiles, replaceFiles } from '../worktree/write-files.ts'
import { commit } from './commit.ts'
import { assertNoConflicts } from './staging.ts'

const STOPPED = 'Automatic merge went well; stopped before committing as requested\n'
const FAILED = 'Automatic merge failed; fix conflicts and then commit the result.\n'

export function merge(call: Call): number {
  const options = parseOptions(
    call.args,
    'm|message= F|file= no-ff ff ff-only no-commit commit squash e|edit no-edit abort continue quit q|quiet v|verbose n|no-stat stat s|strategy= X|strategy-option= allow-unrelated-histories no-verify log=? progress no-progress autostash S',
  )
  const { repo } = call
  if (options.has('abort')) return abortMerge(repo)
  if (options.has('continue')) {
    if (findProgress(repo)?.kind !== 'merge') throw fatal('There is no merge in progress (MERGE_HEAD missing).')
    return commit(call.forOther('commit', ['--no-edit', '--cleanup=strip']))
  }
  if (options.has('quit')) {
    clearProgress(repo)
    return 0
  }
  if (options.operands.length !== 1) {
    if (options.operands.length === 0) throw fatal('No remote for the current branch.')
    throw fatal('merges of more than two branches are not available here')
  }
  return mergeOne(call, options, options.operands[0] as string)
}

function abortMerge(repo: Repository): number {
  const head = repo.headId
  if (findProgress(repo)?.kind !== 'merge' || head === null)
    throw fatal('There is no merge to abort (MERGE_HEAD missing).')
  resetKeeping(repo, head)
  clearProgress(repo)
  return 0
}

/** Makes the index and the files in conflict or staged those of a commit, and keeps other changes. */
export function resetKeeping(repo: Repository, id: string): void {
  const to = filesOf(repo.objects, repo.commit(id).tree)
  const touched = new Set([
    ...repo.index.conflicts().keys(),
    ...stagedChanges(repo, repo.commit(id).tree, false).map(pathOf),
  ])
  forceFiles(
    repo,
    new Map([...to].filter(([path]) => touched.has(path))),
    repo.index.entries.filter(({ path }) => !touched.has(path)),
  )
}

function mergeOne(call: Call, options: Options, name: string): number {
  const { repo } = call
  const progress = findProgress(repo)
  if (progress?.kind === 'merge') {
    assertNoConflicts(repo, 'Merging')
    throw fatal('You have not concluded your merge (MERGE_HEAD exists).\nPlease, commit your changes before you merge.')
  }
  const theirs = findCommit(repo, name)
  if (theirs === null) throw new GitError(`merge: ${name} - not something we can merge`, 1)
  const head = repo.headId
  const quiet = options.has('quiet')
  if (head === null) {
    replaceFiles(repo, new Map(), filesOf(repo.objects, repo.commit(theirs).tree))
    repo.refs.set('HEAD', theirs, 'initial pull')
    return 0
  }
  if (isAncestor(repo, theirs, head)) {
    if (!quiet) call.out(`Already up to date.${options.has('squash') ? ' (nothing to squash)' : ''}\n`)
    return 0
  }
  repo.folder.write('ORIG_HEAD', `${head}\n`)
  if (isAncestor(repo, head, theirs) && !options.has('no-ff')) return fastForward(call, options, name, head, theirs)
  if (options.has('ff-only')) throw fatal('Not possible to fast-forward, aborting.')
  return trueMerge(call, options, name, head, theirs)
}

function fastForward(call: Call, options: Options, name: string, head: string, theirs: string): number {
  const { repo } = call
  const quiet = options.has('quiet')
  const [from, to] = [filesOf(repo.objects, repo.treeOf(head)), filesOf(repo.objects, repo.treeOf(theirs))]
  if (!quiet) call.out(`Updating ${repo.shorten(head)}..${repo.shorten(theirs)}\n`)
  assertNothingLost(repo, from, to, 'merge')
  replaceFiles(repo, from, to)
  if (!options.has('squash')) repo.refs.set('HEAD', theirs, `merge ${name}: Fast-forward`)
  if (!quiet)
    call.out(
      `Fast-forward\n${options.has('squash') ? 'Squash commit -- not updating HEAD\n' : ''}${statBetween(repo, head, theirs, options)}`,
    )
  if (options.has('squash')) writeSquash(repo, theirs)
  return 0
}

function statBetween(repo: Repository, from: string, to: string, options: Options): string {
  if (options.has('no-stat')) return ''
  const changes = treeChanges(repo, repo.commit(from).tree, repo.commit(to).tree)
  return `${formatStat(changes)}${formatModes(changes)}`
}

function trueMerge(call: Call, options: Options, name: string, head: string, theirs: string): number {
  const { repo } = call
  const bases = mergeBases(repo, head, theirs)
  if (bases.length === 0 && !options.has('allow-unrelated-histories'))
    throw fatal('refusing to merge unrelated histories')
  const ourTree = repo.commit(head).tree
  const merged = mergeTrees(repo, baseTree(repo, bases), ourTree, repo.commit(theirs).tree, {
    ours: 'HEAD',
    theirs: name,
    favored: favoredOf(options),
  })
  const staged = stagedChanges(repo, ourTree, false)
  const from = filesOf(repo.objects, ourTree)
  try {
    if (staged.length > 0)
      throw new GitError(
        `error: Your local changes to the following files would be overwritten by merge:\n  ${staged.map(pathOf).join(' ')}`,
      )
    assertNothingLost(repo, from, withConflicts(merged), 'merge')
  } catch (error) {
    throw error instanceof GitError ? new GitError(`${error.message}\nMerge with strategy ort failed.\n`, 2) : error
  }
  for (const message of merged.messages) call.out(`${message}\n`)
  writeMerged(repo, from, merged)
  const message = options.has('message')
    ? `${options
        .values('message')
        .map((part) => cleanMessage(part).trimEnd())
        .join('\n\n')}\n`
    : `Merge ${what(repo, name)}${into(repo)}\n`
  const isClean = merged.conflicts.length === 0
  if (options.has('squash')) {
    writeSquash(repo, theirs)
    call.out('Squash commit -- not updating HEAD\n')
    if (isClean) call.err(STOPPED)
    else call.out(FAILED)
    return isClean ? 0 : 1
  }
  if (!isClean || options.has('no-commit')) {
    repo.folder.write('MERGE_HEAD', `${theirs}\n`)
    repo.folder.write('MERGE_MODE', options.has('no-ff') ? 'no-ff' : '')
    repo.folder.write('MERGE_MSG', message + (isClean ? '' : conflictComment(merged)))
    call.out(isClean ? STOPPED : FAILED)
    return isClean ? 0 : 1
  }
  const tree = writeTree(repo.objects, merged.files)
  const { id } = repo.makeCommit({ tree, parents: [head, theirs], message })
  repo.refs.set('HEAD', id, `merge ${name}: Merge made by the 'ort' strategy.`)
  if (!options.has('quiet')) call.out(`Merge made by the 'ort' strategy.\n${statBetween(repo, head, id, options)}`)
  return 0
}

/** Returns the side that wins conflicts, as `-X` says. */
function favoredOf(options: Options): Favored {
  const given = options.value('strategy-option') ?? null
  if (given !== null && given !== 'ours' && given !== 'theirs') throw fatal(`merge -X ${given} is not available here`)
  const strategy = options.value('strategy') ?? 'ort'
  if (strategy !== 'ort' && strategy !== 'recursive') throw fatal(`merge -s ${strategy} is not available here`)
  return given
}

/** Returns the tree that a merge begins with: where there are several, what a merge of them makes. */
function baseTree(repo: Repository, bases: readonly string[]): string | null {
  const [first, second] = bases
  if (first === undefined) return null
  if (second === undefined) return repo.commit(first).tree
  const names = { ours: 'Temporary merge branch 1', theirs: 'Temporary merge branch 2' }
  const { files, conflicts } = mergeTrees(
    repo,
    baseTree(repo, mergeBases(repo, first, second).slice(0, 1)),
    repo.commit(first).tree,
    repo.commit(second).tree,
    names,
  )
  const all = new Map(files)
  for (const { path, content, mode } of conflicts) all.set(path, { mode, id: repo.objects.write('blob', content) })
  return writeTree(repo.objects, all)
}

/** Returns the files that a merge leaves, with those in conflict as they come. */
export function withConflicts({ files, conflicts }: MergedTrees): Files {
  const all = new Map(files)
  for (const { path, mode } of conflicts) all.set(path, { mode, id: 'in conflict' })
  return all
}

export function conflictComment({ conflicts }: MergedTrees): string {
  return `\n# Conflicts:\n${conflicts.map(({ path }) => `#\t${path}\n`).join('')}`
}

function what(repo: Repository, name: string): string {
  if (repo.refs.find(`refs/heads/${name}`) !== null) return `branch '${name}'`
  if (repo.refs.find(`refs/tags/${name}`) !== null) return `tag '${name}'`
  return `commit '${name}'`
}

function into(repo: Repository): string {
  const { branch } = repo
  if (branch === null) return ' into HEAD'
  return branch === 'master' || branch === 'main' ? '' : ` into ${branch}`
}

function writeSquash(repo: Repository, theirs: string): void {
  const subject = repo.commit(theirs).message
  repo.folder.write(
    'SQUASH_MSG',
    `Squashed commit of the following:\n\ncommit ${theirs}\n\n    ${subject.trim().replaceAll('\n', '\n    ')}\n`,
  )
}
