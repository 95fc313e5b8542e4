import type { Call } from '../call.ts'
import { failure, fatal, GitError } from '../git-error.ts'
import { findCommit, nthBranch } from '../history/revisions.ts'
import { isAncestor, walkCommits } from '../history/walk.ts'
import { parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { type Commit, cleanMessage, subjectOf } from '../store/commit.ts'
import { filesOf, writeTree } from '../store/tree.ts'
import { clearProgress } from '../worktree/progress.ts'
import { stagedChanges, stagedFiles, unstagedChanges } from '../worktree/working-files.ts'
import { assertNothingLost, forceFiles, replaceFiles } from '../worktree/write-files.ts'
import { commitTree, summaryOf } from './commit.ts'
import { conflictComment } from './merge.ts'
import { applyCommit, labelOf, titleOf } from './picking.ts'

const STATE = 'rebase-merge'

export function rebase(call: Call): number {
  const options = parseOptions(
    call.args,
    'onto= continue abort skip quit i|interactive root autosquash autostash q|quiet v|verbose f|force-rebase no-ff r|rebase-merges=? x|exec= m|merge apply keep-empty stat n|no-stat edit-todo show-current-patch',
  )
  const { repo } = call
  for (const name of ['interactive', 'autosquash', 'exec', 'rebase-merges', 'edit-todo', 'autostash', 'root'])
    if (options.has(name)) throw fatal(`rebase --${name} is not available here`)
  const isRunning = repo.folder.isFile(`${STATE}/onto`)
  if (options.has('continue') || options.has('skip') || options.has('abort') || options.has('quit')) {
    if (!isRunning) throw fatal('No rebase in progress?')
    if (options.has('abort')) return abort(repo)
    if (options.has('quit')) {
      repo.folder.remove(STATE)
      return 0
    }
    return goOn(call, options.has('skip'))
  }
  if (isRunning)
    throw fatal(
      `It seems that there is already a rebase-merge directory, and\nI wonder if you are in the middle of another rebase.  If that is the\ncase, please try\n\tgit rebase (--continue | --abort | --skip)\nIf that is not the case, please\n\trm -fr ".git/rebase-merge"\nand run me again.  I am stopping in case you still have something\nvaluable there.`,
    )
  return begin(call, options.operands, options.value('onto'), options.has('force-rebase') || options.has('no-ff'))
}

function begin(call: Call, operands: readonly string[], given: string | undefined, force: boolean): number {
  const { repo } = call
  const [first, name] = operands
  if (first === undefined)
    throw new GitError(
      'There is no tracking information for the current branch.\nPlease specify which branch you want to rebase against.',
      1,
    )
  const upstreamName = first === '-' ? (nthBranch(repo, 1) ?? '-') : first
  const upstream = findCommit(repo, upstreamName)
  if (upstream === null) throw fatal(`invalid upstream '${upstreamName}'`)
  const onto = given === undefined ? upstream : findCommit(repo, given)
  if (onto === null) throw fatal(`Does not point to a valid commit '${given}'`)
  assertClean(call)
  const branch =
    name !== undefined && repo.refs.find(`refs/heads/${name}`) !== null ? name : name === undefined ? repo.branch : null
  const head = name === undefined ? repo.headId : findCommit(repo, name)
  if (head === null) throw fatal(`no such branch/commit '${name ?? 'HEAD'}'`)
  const walk = { from: [head], without: [upstream], firstParent: false, topological: true }
  const simplify = ({ parents }: Commit) => ({ parents, isListed: parents.length < 2 })
  const commits = [...walkCommits(repo, { ...walk, simplify })].reverse()
  if (!force && isAncestor(repo, onto, head) && isOnTop(commits, onto)) {
    if (name !== undefined && branch !== null && branch !== repo.branch) checkOut(repo, branch, head)
    call.out(branch === null ? 'HEAD is up to date.\n' : `Current branch ${branch} is up to date.\n`)
    return 0
  }
  const current = repo.headId
  const [from, to] = [filesOf(repo.objects, repo.treeOf(current)), filesOf(repo.objects, repo.commit(onto).tree)]
  assertNothingLost(repo, from, to, 'checkout')
  replaceFiles(repo, from, to)
  repo.refs.moveHead({ id: onto }, `rebase (start): checkout ${given ?? upstreamName}`)
  repo.folder.write('ORIG_HEAD', `${head}\n`)
  repo.folder.write(`${STATE}/head-name`, `${branch === null ? 'detached HEAD' : `refs/heads/${branch}`}\n`)
  repo.folder.write(`${STATE}/onto`, `${onto}\n`)
  repo.folder.write(`${STATE}/orig-head`, `${head}\n`)
  repo.folder.write(`${STATE}/done`, '')
  repo.folder.write(
    `${STATE}/git-rebase-todo`,
    commits.map((commit) => `pick ${commit.id} ${subjectOf(commit.message)}\n`).join(''),
  )
  return pickRest(call)
}

function isOnTop(commits: readonly Commit[], onto: string): boolean {
  return commits.every((commit, index) => commit.parents[0] === (commits[index - 1]?.id ?? onto))
}

function checkOut(repo: Repository, branch: string, id: string): void {
  replaceFiles(repo, filesOf(repo.objects, repo.treeOf(repo.headId)), filesOf(repo.objects, repo.commit(id).tree))
  repo.refs.moveHead({ branch: `refs/heads/${branch}` }, `checkout: moving from ${repo.branch} to ${branch}`)
}

function assertClean(call: Call): void {
  const { repo } = call
  const isStaged = stagedChanges(repo, repo.treeOf(repo.headId), false).length > 0
  const isChanged = unstagedChanges(repo).length > 0 || repo.index.conflicts().size > 0
  if (!isStaged && !isChanged) return
  const lines: string[] = []
  if (isChanged) lines.push('error: cannot rebase: You have unstaged changes.')
  if (isStaged)
    lines.push(
      isChanged
        ? 'error: additionally, your index contains uncommitted changes.'
        : 'error: cannot rebase: Your index contains uncommitted changes.',
    )
  throw new GitError([...lines, 'error: Please commit or stash them.'].join('\n'), 1)
}

function todoOf(repo: Repository): string[] {
  return (repo.folder.read(`${STATE}/git-rebase-todo`) ?? '').split('\n').filter(Boolean)
}

function pickRest(call: Call): number {
  const { repo } = call
  for (let todo = todoOf(repo); todo.length > 0; todo = todoOf(repo)) {
    const line = todo[0] as string
    repo.folder.write(
      `${STATE}/git-rebase-todo`,
      todo
        .slice(1)
        .map((each) => `${each}\n`)
        .join(''),
    )
    repo.folder.write(`${STATE}/done`, `${repo.folder.read(`${STATE}/done`) ?? ''}${line}\n`)
    const commit = repo.commit(line.split(' ')[1] as string)
    if (commit.parents[0] === repo.headId) {
      // It is already where it has to be.
      forceFiles(repo, filesOf(repo.objects, commit.tree))
      repo.refs.moveHead({ id: commit.id }, `rebase: fast-forward`)
      continue
    }
    const merged = applyCommit(repo, repo.treeOf(commit.parents[0] ?? null), commit.tree, {
      ours: 'HEAD',
      theirs: labelOf(repo, commit),
    })
    for (const text of merged.messages) call.out(`${text}\n`)
    if (merged.conflicts.length > 0) return stop(call, commit, commit.message + conflictComment(merged))
    const tree = writeTree(repo.objects, stagedFiles(repo))
    if (tree === repo.treeOf(repo.headId)) {
      call.err(`dropping ${commit.id} ${subjectOf(commit.message)} -- patch contents already upstream\n`)
      continue
    }
    commitTree(repo, tree, commit, `rebase (pick): ${subjectOf(commit.message)}`)
  }
  return finish(call)
}

function stop(call: Call, commit: Commit, message: string): number {
  const { repo } = call
  repo.folder.write(`${STATE}/stopped-sha`, `${commit.id}\n`)
  repo.folder.write(`${STATE}/message`, message)
  repo.folder.write('MERGE_MSG', message)
  repo.folder.write('REBASE_HEAD', `${commit.id}\n`)
  const title = titleOf(repo, commit)
  call.err(
    `error: could not apply ${title}\nhint: Resolve all conflicts manually, mark them as resolved with\nhint: "git add/rm <conflicted_files>", then run "git rebase --continue".\nhint: You can instead skip this commit: run "git rebase --skip".\nhint: To abort and get back to the state before "git rebase", run "git rebase --abort".\nCould not apply ${title}\n`,
  )
  return 1
}

function goOn(call: Call, skips: boolean): number {
  const { repo } = call
  const stopped = repo.folder.read(`${STATE}/stopped-sha`)?.trim()
  if (skips) forceFiles(repo, filesOf(repo.objects, repo.treeOf(repo.headId)))
  else if (stopped !== undefined) {
    const conflicts = [...repo.index.conflicts().keys()]
    if (conflicts.length > 0) {
      for (const path of conflicts) call.out(`${path}: needs merge\n`)
      call.out('You must edit all merge conflicts and then\nmark them as resolved using git add\n')
      return 1
    }
    if (unstagedChanges(repo).length > 0)
      throw failure('cannot rebase: You have unstaged changes.\nerror: Please commit or stash them.')
    const commit = repo.commit(stopped)
    const tree = writeTree(repo.objects, stagedFiles(repo))
    if (tree !== repo.treeOf(repo.headId)) {
      const message = cleanMessage(repo.folder.read(`${STATE}/message`) ?? commit.message, true)
      const made = commitTree(repo, tree, { ...commit, message }, `rebase (continue): ${subjectOf(message)}`)
      call.out(summaryOf(repo, made, false))
    }
  }
  repo.folder.remove(`${STATE}/stopped-sha`)
  repo.folder.remove('REBASE_HEAD')
  clearProgress(repo)
  return pickRest(call)
}

function finish(call: Call): number {
  const { repo } = call
  const name = repo.folder.read(`${STATE}/head-name`)?.trim() ?? ''
  const onto = repo.folder.read(`${STATE}/onto`)?.trim()
  const id = repo.headId as string
  if (name.startsWith('refs/')) {
    repo.refs.set(name, id, `rebase (finish): ${name} onto ${onto}`)
    repo.refs.moveHead({ branch: name }, `rebase (finish): returning to ${name}`)
  }
  repo.folder.remove(STATE)
  call.err(`Successfully rebased and updated ${name}.\n`)
  return 0
}

function abort(repo: Repository): number {
  const name = repo.folder.read(`${STATE}/head-name`)?.trim() ?? ''
  const id = repo.folder.read(`${STATE}/orig-head`)?.trim() as string
  forceFiles(repo, filesOf(repo.objects, repo.commit(id).tree))
  repo.refs.moveHead(name.startsWith('refs/') ? { branch: name } : { id }, `rebase (abort): returning to ${name}`)
  repo.folder.remove(STATE)
  repo.folder.remove('REBASE_HEAD')
  clearProgress(repo)
  return 0
}
