import type { Call } from '../call.ts'
import { failure, fatal, GitError } from '../git-error.ts'
import { pathOf } from '../history/file-changes.ts'
import { findCommit, nthBranch, parseCommit, parseRevision, peel } from '../history/revisions.ts'
import { type Options, parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { subjectOf } from '../store/commit.ts'
import type { IndexEntry } from '../store/index-file.ts'
import { type Files, filesOf } from '../store/tree.ts'
import { mergeTexts } from '../text/merge-texts.ts'
import { clearProgress } from '../worktree/progress.ts'
import { entryFor, stagedChanges, stagedFiles, unstagedChanges, workingSide } from '../worktree/working-files.ts'
import {
  assertNothingLost,
  forceFiles,
  removeWorking,
  replaceFiles,
  same,
  writeContent,
  writeWorking,
} from '../worktree/write-files.ts'
import { createBranch } from './branches.ts'
import { noMatch } from './staging.ts'

const HEADS = 'refs/heads/'

export function checkout(call: Call): void {
  const options = parseOptions(
    call.args,
    'b= B= f|force q|quiet detach d t|track=? no-track orphan= ours theirs m|merge p|patch l progress no-progress guess no-guess conflict= pathspec-from-file= overlay no-overlay',
  )
  if (options.has('patch')) throw fatal('checkout -p needs a terminal, which is not here')
  const { repo } = call
  const { operands, paths } = options
  const [first] = operands
  const create = options.value('B') ?? options.value('b') ?? options.value('orphan')
  if (create !== undefined) {
    if (operands.length > 1)
      throw fatal(`'${operands[1]}' is not a commit and a branch '${create}' cannot be created from it`)
    switchTo(call, { create, force: options.has('B'), orphan: options.has('orphan'), target: first ?? null, options })
    return
  }
  if (paths !== null || options.has('ours') || options.has('theirs')) {
    const files = paths ?? operands
    const source = paths === null ? null : (first ?? null)
    if (paths !== null && paths.length === 0) {
      switchTo(call, { target: first ?? null, options })
      return
    }
    restorePaths(call, source, files, options)
    return
  }
  if (first === undefined) {
    sayChanges(call)
    return
  }
  const target = first === '-' ? previous(repo) : first
  if (findCommit(repo, target) !== null && operands.length === 1) switchTo(call, { target, options })
  else if (operands.length > 1 && findCommit(repo, target) !== null)
    restorePaths(call, target, operands.slice(1), options)
  else restorePaths(call, null, operands, options)
}

export function switchBranch(call: Call): void {
  const options = parseOptions(
    call.args,
    'c|create= C|force-create= d|detach f|force discard-changes orphan= q|quiet t|track=? m|merge guess no-guess progress no-progress',
  )
  const { repo } = call
  const [first] = options.operands
  const create = options.value('force-create') ?? options.value('create') ?? options.value('orphan')
  if (create !== undefined) {
    switchTo(call, {
      create,
      force: options.has('force-create'),
      orphan: options.has('orphan'),
      target: first ?? null,
      options,
    })
    return
  }
  if (first === undefined) throw fatal('missing branch or commit argument')
  const target = first === '-' ? previous(repo) : first
  const isBranch = repo.refs.find(HEADS + target) !== null
  if (!isBranch && !options.has('detach')) {
    if (findCommit(repo, target) === null) throw fatal(`invalid reference: ${target}`)
    const kind = repo.refs.find(`refs/tags/${target}`) === null ? 'commit' : 'tag'
    throw fatal(`a branch is expected, got ${kind} '${target}'`)
  }
  switchTo(call, { target, options })
}

function previous(repo: Repository): string {
  const name = nthBranch(repo, 1)
  if (name === null) throw failure("pathspec '-' did not match any file(s) known to git")
  return name
}

interface Switch {
  readonly target: string | null
  readonly options: Options
  readonly create?: string
  readonly force?: boolean
  readonly orphan?: boolean
}

function switchTo(call: Call, { target, options, create, force = false, orphan = false }: Switch): void {
  const { repo } = call
  const before = repo.headId
  const from = repo.branch
  if (create !== undefined && !orphan && !force && repo.refs.find(HEADS + create) !== null)
    throw fatal(`a branch named '${create}' already exists`)
  if (target !== null && findCommit(repo, target) === null) {
    if (create === undefined) throw fatal(`invalid reference: ${target}`)
    throw fatal(`'${target}' is not a commit and a branch '${create}' cannot be created from it`)
  }
  const id = target === null ? before : parseCommit(repo, target)
  const conflicts = repo.index.conflicts()
  const isForced = options.has('force') || options.has('discard-changes')
  if (conflicts.size > 0 && !isForced) {
    for (const path of conflicts.keys()) call.out(`${path}: needs merge\n`)
    throw failure('you need to resolve your current index first')
  }
  const [old, current] = [filesOf(repo.objects, repo.treeOf(before)), filesOf(repo.objects, repo.treeOf(id))]
  if (isForced) forceFiles(repo, current)
  else {
    assertNothingLost(repo, old, current, 'checkout')
    replaceFiles(repo, old, current)
  }
  const fromName = from ?? before ?? ''
  if (create !== undefined) {
    if (orphan) repo.refs.moveHead({ branch: HEADS + create }, '')
    else {
      const exists = repo.refs.find(HEADS + create) !== null
      if (id === null) repo.refs.moveHead({ branch: HEADS + create }, '')
      else {
        if (!exists || repo.branch !== create) createBranch(repo, create, target ?? 'HEAD', force)
        else repo.refs.set(HEADS + create, id, `branch: Reset to ${target}`)
        repo.refs.moveHead({ branch: HEADS + create }, `checkout: moving from ${fromName} to ${create}`)
      }
      say(call, options, `Switched to ${exists ? 'and reset' : 'a new'} branch '${create}'\n`)
    }
    if (!options.has('quiet') && target !== null) sayChanges(call)
    return
  }
  const name = target ?? 'HEAD'
  const ref = HEADS + name
  const isBranch = repo.refs.find(ref) !== null && !options.has('detach') && !options.has('d')
  const previousHead =
    from === null && before !== null && before !== id
      ? `Previous HEAD position was ${shortCommit(repo, before)}\n`
      : null
  if (isBranch) {
    repo.refs.moveHead({ branch: ref }, `checkout: moving from ${fromName} to ${name}`)
    if (previousHead !== null) say(call, options, previousHead)
    say(call, options, from === name ? `Already on '${name}'\n` : `Switched to branch '${name}'\n`)
  } else {
    if (target !== null) repo.refs.moveHead({ id: id as string }, `checkout: moving from ${fromName} to ${name}`)
    if (previousHead !== null) say(call, options, previousHead)
    else if (from !== null && !options.has('detach') && target !== null) say(call, options, detachedAdvice(name))
    if (target !== null) say(call, options, `HEAD is now at ${shortCommit(repo, id as string)}\n`)
  }
  if (isForced) clearProgress(repo)
  if (!options.has('quiet')) sayChanges(call)
}

function say(call: Call, options: Options, text: string): void {
  if (!options.has('quiet')) call.err(text)
}

function shortCommit(repo: Repository, id: string): string {
  return `${repo.shorten(id)} ${subjectOf(repo.commit(id).message)}`
}

function detachedAdvice(name: string): string {
  return `Note: switching to '${name}'.\n\nYou are in 'detached HEAD' state. You can look around, make experimental\nchanges and commit them, and you can discard any commits you make in this\nstate without impacting any branches by switching back to a branch.\n\nIf you want to create a new branch to retain commits you create, you may\ndo so (now or later) by using -c with the switch command. Example:\n\n  git switch -c <new-branch-name>\n\nOr undo this operation with:\n\n  git switch -\n\nTurn off this advice by setting config variable advice.detachedHead to false\n\n`
}

/** Says which files have changes that a switch has kept. */
function sayChanges(call: Call): void {
  const { repo } = call
  const kinds = new Map<string, string>()
  for (const change of [...unstagedChanges(repo), ...stagedChanges(repo, repo.treeOf(repo.headId), false)])
    if (!kinds.has(pathOf(change))) kinds.set(pathOf(change), change.kind)
  for (const path of repo.index.conflicts().keys()) kinds.set(path, 'U')
  for (const [path, kind] of [...kinds].sort(([one], [other]) => (one < other ? -1 : 1))) call.out(`${kind}\t${path}\n`)
}

/** Takes files from the index or a commit into the working tree. */
function restorePaths(call: Call, source: string | null, given: readonly string[], options: Options): void {
  const { repo } = call
  const filter = repo.filterOf(given)
  if (options.has('ours') || options.has('theirs')) {
    takeSide(call, given, options.has('ours') ? 2 : 3)
    return
  }
  const files: Files =
    source === null ? stagedFiles(repo) : filesOf(repo.objects, peel(repo, parseRevision(repo, source), 'tree'))
  const conflicts = repo.index.conflicts()
  const chosen = [...files].filter(([path]) => filter.matches(path))
  const missing = filter.unmatched([...files.keys(), ...(source === null ? conflicts.keys() : [])])
  if (missing !== null) throw noMatch(missing)
  if (source === null && options.has('merge'))
    for (const path of conflicts.keys()) if (filter.matches(path)) remake(repo, path)
  if (source === null && !options.has('merge')) {
    const unmerged = [...conflicts.keys()].filter((path) => filter.matches(path))
    if (unmerged.length > 0)
      throw new GitError(unmerged.map((path) => `error: path '${path}' is unmerged`).join('\n'), 1)
  }
  let count = 0
  for (const [path, item] of chosen) {
    if (!same(workingSide(repo, path), item)) {
      writeWorking(repo, path, item)
      count += 1
    } else if (source !== null && !same(repo.index.get(path), item)) count += 1
  }
  if (source !== null) {
    repo.index.update(
      [],
      chosen.map(([path, item]) => entryFor(repo, path, item)),
    )
  }
  const from = source === null ? 'the index' : repo.shorten(parseRevision(repo, source))
  if (!options.has('quiet') && options.paths === null)
    call.err(`Updated ${count} path${count === 1 ? '' : 's'} from ${from}\n`)
}

/** Takes one side of files in conflict into the working tree. */
function takeSide(call: Call, given: readonly string[], stage: 2 | 3): void {
  const { repo } = call
  const filter = repo.filterOf(given)
  const conflicts = [...repo.index.conflicts()].filter(([path]) => filter.matches(path))
  const missing = filter.unmatched(repo.index.entries.map(({ path }) => path))
  if (missing !== null) throw noMatch(missing)
  for (const [path, stages] of conflicts) {
    const entry = stages[stage]
    if (!entry) throw failure(`path '${path}' does not have ${stage === 2 ? 'our' : 'their'} version`)
    writeWorking(repo, path, entry)
  }
  for (const entry of repo.index.entries)
    if (entry.stage === 0 && filter.matches(entry.path) && !same(workingSide(repo, entry.path), entry))
      writeWorking(repo, entry.path, entry)
  if (conflicts.length > 0)
    call.err(`Updated ${conflicts.length} path${conflicts.length === 1 ? '' : 's'} from the index\n`)
}

/** Writes a file in conflict with its marks again. */
function remake(repo: Repository, path: string): void {
  const stages = repo.index.conflicts().get(path) ?? {}
  const blob = (stage: number) => (stages[stage] ? repo.objects.blob(stages[stage].id) : '')
  const { text } = mergeTexts(blob(1), blob(2), blob(3), ['ours', 'theirs'])
  writeContent(repo, path, (stages[2] ?? stages[3])?.mode ?? 0o100644, text)
}

export function restore(call: Call): void {
  const options = parseOptions(
    call.args,
    's|source= S|staged W|worktree ours theirs p|patch q|quiet m|merge ignore-unmerged overlay no-overlay progress no-progress',
  )
  if (options.has('patch')) throw fatal('restore -p needs a terminal, which is not here')
  const { repo } = call
  const given = [...options.operands, ...(options.paths ?? [])]
  if (given.length === 0) throw fatal('you must specify path(s) to restore')
  if (options.has('ours') || options.has('theirs')) {
    takeSide(call, given, options.has('ours') ? 2 : 3)
    return
  }
  const [staged, working] = [options.has('staged'), options.has('worktree') || !options.has('staged')]
  const source = options.value('source') ?? (staged ? 'HEAD' : null)
  const filter = repo.filterOf(given)
  const tree = source === null ? null : source === 'HEAD' && repo.headId === null ? null : treeOf(repo, source)
  const files: Files = source === null ? stagedFiles(repo) : filesOf(repo.objects, tree)
  const known = [...new Set([...files.keys(), ...repo.index.entries.map(({ path }) => path)])]
  const missing = filter.unmatched(known)
  if (missing !== null) throw noMatch(missing)
  const conflicts = repo.index.conflicts()
  const [paths, entries]: [string[], IndexEntry[]] = [[], []]
  for (const path of known.filter((each) => filter.matches(each))) {
    const item = files.get(path)
    if (working) {
      if (source === null && conflicts.has(path)) {
        if (options.has('ignore-unmerged')) continue
        throw failure(`path '${path}' is unmerged`)
      }
      if (!item) removeWorking(repo, path)
      else if (!same(workingSide(repo, path), item)) writeWorking(repo, path, item)
    }
    paths.push(path)
    if (staged && item) entries.push(entryFor(repo, path, item))
  }
  if (staged) repo.index.update(paths, entries)
}

function treeOf(repo: Repository, source: string): string {
  const id = findCommit(repo, source)
  if (id === null) throw fatal(`could not resolve ${source}`)
  return repo.commit(id).tree
}
