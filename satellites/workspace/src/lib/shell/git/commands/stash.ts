import type { Call } from '../call.ts'
import { failure, fatal, GitError } from '../git-error.ts'
import { pathOf } from '../history/file-changes.ts'
import { findRevision } from '../history/revisions.ts'
import { treeChanges } from '../history/tree-changes.ts'
import { parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { subjectOf } from '../store/commit.ts'
import { type Files, filesOf, type TreeItem, writeTree } from '../store/tree.ts'
import { DIFF_OPTIONS, diffOutputOf, formatDiff } from '../text/diff-output.ts'
import { mergeTrees, writeMerged } from '../worktree/merge-trees.ts'
import type { PathFilter } from '../worktree/patterns.ts'
import {
  entryFor,
  stagedChanges,
  stagedFiles,
  toIndexEntry,
  unstagedChanges,
  untrackedFiles,
  workingSide,
} from '../worktree/working-files.ts'
import { assertNothingLost, forceFiles, removeWorking, same, writeWorking } from '../worktree/write-files.ts'
import { withConflicts } from './merge.ts'
import { printRefLog, REF_LOG_OPTIONS } from './ref-log.ts'
import { noMatch } from './staging.ts'
import { statusText } from './status.ts'

const REF = 'refs/stash'

export function stash(call: Call): number {
  const [first = 'push', ...rest] = call.args
  const actions: Readonly<Record<string, (args: readonly string[]) => number>> = {
    push: (args) => push(call, args),
    save: (args) =>
      push(
        call,
        args.some((arg) => !arg.startsWith('-'))
          ? [...args.filter((arg) => arg.startsWith('-')), '-m', args.filter((arg) => !arg.startsWith('-')).join(' ')]
          : args,
      ),
    pop: (args) => apply(call, args, true),
    apply: (args) => apply(call, args, false),
    list: (args) => list(call, args),
    show: (args) => show(call, args),
    drop: (args) => drop(call, parseOptions(args, 'q|quiet').operands[0], parseOptions(args, 'q|quiet').has('quiet')),
    clear: () => clear(call.repo),
    branch: ([name]) => toBranch(name),
  }
  if (first.startsWith('-')) return push(call, call.args)
  const action = actions[first]
  if (!action)
    throw new GitError(
      `error: subcommand wasn't specified; 'push' can't be assumed due to unexpected token '${first}'`,
      1,
    )
  return action(rest)
}

function push(call: Call, args: readonly string[]): number {
  const options = parseOptions(
    args,
    'm|message= u|include-untracked a|all k|keep-index q|quiet p|patch S|staged no-keep-index',
  )
  if (options.has('patch')) throw fatal('stash -p needs a terminal, which is not here')
  const { repo } = call
  const head = repo.headId
  if (head === null) throw new GitError('You do not have the initial commit yet', 1)
  const filter = repo.filterOf([...options.operands, ...(options.paths ?? [])])
  if (repo.index.conflicts().size > 0)
    throw new GitError(
      `${[...repo.index.conflicts().keys()].map((path) => `${path}: needs merge`).join('\n')}\nerror: could not write index`,
      1,
    )
  const untracked =
    options.has('include-untracked') || options.has('all')
      ? [
          ...untrackedFiles(repo, { all: true }),
          ...(options.has('all') ? untrackedFiles(repo, { all: true, ignored: true }) : []),
        ].filter((path) => filter.matches(path) && !path.endsWith('/'))
      : []
  const missing = filter.isEmpty
    ? null
    : filter.unmatched([...repo.index.entries.map(({ path }) => path), ...untracked])
  if (missing !== null) throw noMatch(`:(,prefix:0)${missing}`, "\nDid you forget to 'git add'?")
  const commit = repo.commit(head)
  const isDirty = [...stagedChanges(repo, commit.tree, false), ...unstagedChanges(repo)].some((change) =>
    filter.matches(pathOf(change)),
  )
  if (!isDirty && untracked.length === 0) {
    if (!options.has('quiet')) call.out('No local changes to save\n')
    return 0
  }
  const where = `${repo.branch ?? '(no branch)'}: ${repo.shorten(head)} ${subjectOf(commit.message)}`
  const onlyFiltered = (files: Files) => {
    const base = filesOf(repo.objects, commit.tree)
    if (filter.isEmpty) return files
    const kept = new Map([...base].filter(([path]) => !filter.matches(path)))
    for (const [path, item] of files) if (filter.matches(path)) kept.set(path, item)
    return kept
  }
  const staged = stagedFiles(repo)
  const working = new Map<string, TreeItem>()
  for (const path of new Set([...staged.keys(), ...filesOf(repo.objects, commit.tree).keys()])) {
    const side = staged.has(path) ? workingSide(repo, path) : null
    if (side) working.set(path, toIndexEntry(repo, side))
  }
  const make = (files: Files, parents: readonly string[], message: string) =>
    repo.makeCommit({ tree: writeTree(repo.objects, files), parents, message }).id
  const index = make(onlyFiltered(staged), [head], `index on ${where}\n`)
  const others = new Map(
    untracked.flatMap((path) => {
      const side = workingSide(repo, path)
      return side ? [[path, toIndexEntry(repo, side)] as const] : []
    }),
  )
  const extra = untracked.length > 0 ? [make(others, [], `untracked files on ${where}\n`)] : []
  const given = options.value('message')
  const message = given === undefined ? `WIP on ${where}` : `On ${repo.branch ?? '(no branch)'}: ${given}`
  const id = make(onlyFiltered(working), [head, index, ...extra], message)
  repo.refs.set(REF, id, message)
  for (const path of untracked) removeWorking(repo, path)
  if (filter.isEmpty) {
    repo.folder.write('ORIG_HEAD', `${head}\n`)
    repo.refs.set('HEAD', head, 'reset: moving to HEAD')
  }
  restoreHead(repo, filter, options.has('keep-index') ? staged : filesOf(repo.objects, commit.tree))
  if (!options.has('quiet')) call.out(`Saved working directory and index state ${message}\n`)
  return 0
}

function restoreHead(repo: Repository, filter: PathFilter, to: Files): void {
  if (filter.isEmpty) {
    forceFiles(repo, to)
    return
  }
  const paths = [...new Set([...to.keys(), ...repo.index.entries.map(({ path }) => path)])].filter((path) =>
    filter.matches(path),
  )
  for (const path of paths) {
    const item = to.get(path)
    if (!item) removeWorking(repo, path)
    else if (!same(workingSide(repo, path), item)) writeWorking(repo, path, item)
  }
  repo.index.update(
    paths,
    paths.flatMap((path) => (to.has(path) ? [entryFor(repo, path, to.get(path) as TreeItem)] : [])),
  )
}

/** Returns which stash is meant, and its commit. */
function findStash(
  repo: Repository,
  given: string | undefined,
): { readonly index: number | null; readonly id: string } {
  const name = given === undefined ? 'stash@{0}' : /^\d+$/.test(given) ? `stash@{${given}}` : given
  const index = /^(?:refs\/)?stash@\{(\d+)\}$/.exec(name)?.[1] ?? (name === 'stash' || name === REF ? '0' : undefined)
  const log = repo.refs.log(REF)
  if (log.length === 0) throw failure('No stash entries found.')
  if (index === undefined) {
    const id = findRevision(repo, name)
    if (id === null) throw failure(`${name} is not a valid reference`)
    return { index: null, id }
  }
  const entry = log[Number(index)]
  if (!entry) throw failure(`stash@{${index}} is not a valid reference`)
  return { index: Number(index), id: entry.to }
}

function apply(call: Call, args: readonly string[], pops: boolean): number {
  const options = parseOptions(args, 'index q|quiet')
  const { repo } = call
  const { id, index } = findStash(repo, options.operands[0])
  const commit = repo.commit(id)
  const [base, staged, extra] = commit.parents.map((parent) => repo.commit(parent).tree)
  if (repo.index.conflicts().size > 0) throw failure('could not apply: you need to resolve your current index first')
  const before = stagedFiles(repo)
  const ours = writeTree(repo.objects, before)
  const merged = mergeTrees(repo, base ?? null, ours, commit.tree, {
    ours: 'Updated upstream',
    theirs: 'Stashed changes',
  })
  assertNothingLost(repo, before, withConflicts(merged), 'merge')
  const others = extra === undefined ? new Map<string, TreeItem>() : filesOf(repo.objects, extra)
  for (const path of others.keys())
    if (repo.tree.at(path))
      throw new GitError(`${path} already exists, no checkout\nerror: could not restore untracked files from stash`, 1)
  if (base === commit.tree) call.out('Already up to date.\n')
  for (const message of merged.messages) call.out(`${message}\n`)
  writeMerged(repo, before, merged)
  for (const [path, item] of others) writeWorking(repo, path, item)
  if (merged.conflicts.length === 0)
    unstage(repo, before, options.has('index') ? filesOf(repo.objects, staged ?? null) : null)
  if (!options.has('quiet')) call.out(statusText(repo))
  if (merged.conflicts.length > 0) {
    if (pops) call.out('The stash entry is kept in case you need it again.\n')
    return 1
  }
  if (pops && index !== null) drop(call, options.operands[0], options.has('quiet'))
  return 0
}

/** Leaves in the index what it had, and the files that are new. */
function unstage(repo: Repository, before: Files, staged: Files | null): void {
  const kept = staged ?? before
  const entries = repo.index.entries.flatMap((entry) => {
    const item = kept.get(entry.path)
    if (item) return [same(item, entry) ? entry : entryFor(repo, entry.path, item)]
    return staged ? [] : [entry]
  })
  const gone = [...kept].filter(([path]) => !repo.index.get(path)).map(([path, item]) => entryFor(repo, path, item))
  repo.index.replace([...entries, ...gone])
}

function list(call: Call, args: readonly string[]): number {
  printRefLog(call, parseOptions(args, REF_LOG_OPTIONS), REF, REF, '%gd: %gs')
  return 0
}

function show(call: Call, args: readonly string[]): number {
  const options = parseOptions(args, `${DIFF_OPTIONS} include-untracked only-untracked`)
  const { repo } = call
  const { id } = findStash(repo, options.operands[0])
  const commit = repo.commit(id)
  const output = diffOutputOf(options, ['stat'])
  const base = repo.commit(commit.parents[0] as string).tree
  call.out(formatDiff(repo, treeChanges(repo, base, commit.tree), output))
  return 0
}

function drop(call: Call, given: string | undefined, quiet: boolean): number {
  const { repo } = call
  const { index, id } = findStash(repo, given)
  if (index === null) throw failure(`'${given}' is not a stash reference`)
  const log = repo.refs.log(REF)
  const left = log.filter((_, at) => at !== index)
  if (left.length === 0) clear(repo)
  else {
    repo.folder.write(REF, `${left[0]?.to}\n`)
    repo.refs.replaceLog(
      REF,
      left.map((entry, at) => ({ ...entry, from: left[at + 1]?.to ?? '0'.repeat(40) })),
    )
  }
  if (!quiet)
    call.out(`Dropped ${given === undefined || /^\d+$/.test(given) ? `refs/stash@{${index}}` : given} (${id})\n`)
  return 0
}

function clear(repo: Repository): number {
  repo.refs.remove(REF)
  return 0
}

function toBranch(name: string | undefined): never {
  if (name === undefined) throw new GitError('No branch name specified', 1)
  throw fatal(`stash branch is not available here; use git switch -c ${name} and git stash pop`)
}
