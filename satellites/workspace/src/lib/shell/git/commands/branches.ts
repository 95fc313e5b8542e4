import type { Call } from '../call.ts'
import { fatal, GitError } from '../git-error.ts'
import { formatRef } from '../history/format-ref.ts'
import { findCommit, nthBranch, parseCommit, peel } from '../history/revisions.ts'
import { isAncestor } from '../history/walk.ts'
import { type Options, parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { subjectOf } from '../store/commit.ts'
import { isRefName } from '../store/refs.ts'
import { globSource } from '../worktree/patterns.ts'
import { detachedHead } from './status.ts'

const HEADS = 'refs/heads/'

export function branch(call: Call): void {
  const options = parseOptions(
    withValues(call.args),
    'a|all r|remotes l|list d|delete D m|move M c|copy C v|verbose vv show-current f|force q|quiet merged=? no-merged=? contains=? sort= format= points-at= u|set-upstream-to= unset-upstream t|track=? no-track color=? no-color i|ignore-case column=? no-column abbrev=? edit-description',
  )
  const { repo } = call
  const [name, start] = options.operands
  if (options.has('set-upstream-to') || options.has('unset-upstream') || options.has('edit-description'))
    throw fatal('branches of other repositories, and editors, are not available here')
  if (options.has('show-current')) call.out(repo.branch === null ? '' : `${repo.branch}\n`)
  else if (options.has('delete') || options.has('D')) deleteBranches(call, options)
  else if (options.has('move') || options.has('M')) renameBranch(repo, options)
  else if (options.has('copy') || options.has('C')) copyBranch(repo, options)
  else if (name === undefined || options.has('list') || isListing(options)) listBranches(call, options)
  else createBranch(repo, name, start ?? 'HEAD', options.has('force'))
}

/** Returns arguments with the commit that some options may have, as their value. */
export function withValues(args: readonly string[]): string[] {
  const takes = (arg = '') => /^--(merged|no-merged|contains)$/.test(arg)
  return args.flatMap((arg, at) => {
    const next = args[at + 1]
    if (takes(arg)) return [next === undefined || next.startsWith('-') ? arg : `${arg}=${next}`]
    return takes(args[at - 1]) && !arg.startsWith('-') ? [] : [arg]
  })
}

function isListing(options: Options): boolean {
  return ['all', 'remotes', 'merged', 'no-merged', 'contains', 'points-at'].some((name) => options.has(name))
}

export function createBranch(repo: Repository, given: string, start: string, force: boolean): void {
  const name = branchName(repo, given)
  if (!isRefName(name) || name === 'HEAD') throw fatal(`'${name}' is not a valid branch name`)
  const ref = HEADS + name
  const exists = repo.refs.find(ref) !== null
  if (exists && !force) throw fatal(`a branch named '${name}' already exists`)
  if (exists && repo.branch === name)
    throw fatal(`cannot force update the branch '${name}' checked out at '${repo.tree.path}'`)
  const id = findCommit(repo, start)
  if (id === null) throw fatal(`not a valid object name: '${start}'`)
  repo.refs.set(ref, id, exists ? `branch: Reset to ${start}` : `branch: Created from ${start}`)
}

/** Returns the name of a branch, which may be said as `@{-1}`. */
function branchName(repo: Repository, given: string): string {
  const number = /^@\{-(\d+)\}$/.exec(given)?.[1]
  return number === undefined ? given : (nthBranch(repo, Number(number)) ?? given)
}

function deleteBranches(call: Call, options: Options): void {
  const { repo } = call
  const force = options.has('D') || options.has('force')
  if (options.operands.length === 0) throw fatal('branch name required')
  let failed = false
  for (const given of options.operands) {
    const name = branchName(repo, given)
    const id = repo.refs.find(HEADS + name)
    const head = repo.headId
    const refuse = (message: string) => {
      call.err(`error: ${message}\n`)
      failed = true
    }
    if (id === null) refuse(`branch '${name}' not found.`)
    else if (repo.branch === name) refuse(`Cannot delete branch '${name}' checked out at '${repo.tree.path}'`)
    else if (!force && !(head !== null && isAncestor(repo, id, head)))
      refuse(
        `The branch '${name}' is not fully merged.\nIf you are sure you want to delete it, run 'git branch -D ${name}'.`,
      )
    else {
      repo.refs.remove(HEADS + name)
      if (!options.has('quiet')) call.out(`Deleted branch ${name} (was ${repo.shorten(id)}).\n`)
    }
  }
  if (failed) throw new GitError('', 1)
}

function renameBranch(repo: Repository, options: Options): void {
  const [first, second] = options.operands
  if (first === undefined) throw fatal('branch name required')
  const from = second === undefined ? repo.branch : first
  const to = second ?? first
  if (from === null) throw fatal('cannot rename the current branch while not on any.')
  if (!isRefName(to)) throw fatal(`'${to}' is not a valid branch name`)
  if (repo.refs.find(HEADS + from) === null) {
    if (repo.branch !== from || repo.headId !== null) throw fatal(`no branch named '${from}'`)
    repo.refs.moveHead({ branch: HEADS + to }, '')
    return
  }
  if (from !== to && repo.refs.find(HEADS + to) !== null && !options.has('M') && !options.has('force'))
    throw fatal(`a branch named '${to}' already exists`)
  repo.refs.rename(HEADS + from, HEADS + to, `Branch: renamed ${HEADS}${from} to ${HEADS}${to}`)
}

function copyBranch(repo: Repository, options: Options): void {
  const [first, second] = options.operands
  if (first === undefined) throw fatal('branch name required')
  const from = second === undefined ? repo.branch : first
  if (from === null || repo.refs.find(HEADS + from) === null) throw fatal(`no branch named '${from}'`)
  createBranch(repo, second ?? first, from, options.has('C') || options.has('force'))
}

function listBranches(call: Call, options: Options): void {
  const { repo } = call
  const matchers = options.operands.map((pattern) => new RegExp(`^${globSource(pattern, true)}$`))
  const commitOf = (name: string) => parseCommit(repo, options.value(name) || 'HEAD')
  const merged = options.has('merged') ? commitOf('merged') : null
  const unmerged = options.has('no-merged') ? commitOf('no-merged') : null
  const contained = options.has('contains') ? commitOf('contains') : null
  const pointed = options.has('points-at') ? commitOf('points-at') : null
  const isWanted = ({ name, id }: { readonly name: string; readonly id: string }) =>
    (matchers.length === 0 || matchers.some((each) => each.test(name.replace(/^refs\/(heads|remotes)\//, '')))) &&
    (merged === null || isAncestor(repo, id, merged)) &&
    (unmerged === null || !isAncestor(repo, id, unmerged)) &&
    (contained === null || isAncestor(repo, contained, id)) &&
    (pointed === null || pointed === id)
  const heads = options.has('remotes') ? [] : repo.refs.list(HEADS)
  const remotes = options.has('remotes') || options.has('all') ? repo.refs.list('refs/remotes/') : []
  const head = repo.headId
  const rows = [...heads, ...remotes].filter(isWanted).map(({ name, id }) => ({
    mark: name === repo.refs.head ? '* ' : '  ',
    label: name.startsWith(HEADS) ? name.slice(HEADS.length) : name.slice(options.has('all') ? 5 : 13),
    name,
    id,
  }))
  if (
    repo.branch === null &&
    head !== null &&
    !options.has('remotes') &&
    matchers.length === 0 &&
    isWanted({ name: 'HEAD', id: head })
  )
    rows.unshift({ mark: '* ', label: `(${detachedHead(repo)})`, name: 'HEAD', id: head })
  sortRefs(repo, rows, options.values('sort'))
  const format = options.value('format')
  const width = Math.max(0, ...rows.map(({ label }) => label.length))
  for (const { mark, label, name, id } of rows) {
    if (format !== undefined) call.out(`${formatRef(repo, name, id, format)}\n`)
    else if (options.has('verbose') || options.has('vv'))
      call.out(`${mark}${label.padEnd(width)} ${repo.shorten(id)} ${subjectOf(repo.commit(id).message)}\n`)
    else call.out(`${mark}${label}\n`)
  }
}

/** Sorts references by keys such as `-committerdate`, the last first. */
export function sortRefs(
  repo: Repository,
  rows: { readonly name: string; readonly id: string }[],
  keys: readonly string[],
): void {
  for (const key of keys) {
    const field = key.replace(/^-/, '')
    const value = (row: (typeof rows)[number]): string | number =>
      /date$/.test(field)
        ? repo.commit(peel(repo, row.id, 'commit') as string).committer.time
        : field.startsWith('v') || field.startsWith('version')
          ? row.name.replace(/\d+/g, (digits) => digits.padStart(10, '0'))
          : row.name
    const compare = (one: (typeof rows)[number], other: (typeof rows)[number]) =>
      value(one) < value(other) ? -1 : value(one) > value(other) ? 1 : 0
    rows.sort((one, other) => (key.startsWith('-') ? compare(other, one) : compare(one, other)))
  }
}

export function forEachRef(call: Call): void {
  const options = parseOptions(call.args, 'format= sort= count= points-at= merged=? contains=?')
  const { repo } = call
  const prefixes = options.operands.length > 0 ? options.operands : ['refs/']
  const rows = prefixes.flatMap((prefix) =>
    repo.refs.list(prefix.includes('*') ? prefix.replace(/\*.*$/, '') : `${prefix.replace(/\/$/, '')}/`),
  )
  sortRefs(repo, rows, options.values('sort'))
  const format = options.value('format') ?? '%(objectname) %(objecttype)\t%(refname)'
  const count = options.has('count') ? Number(options.value('count')) : rows.length
  for (const { name, id } of rows.slice(0, count)) call.out(`${formatRef(repo, name, id, format)}\n`)
}
