import { toPattern } from '../bytes.ts'
import type { Call } from '../call.ts'
import { fatal } from '../git-error.ts'
import { pathOf } from '../history/file-changes.ts'
import { type CommitFormat, FORMATS, formatCommit, parseFormat } from '../history/format-commit.ts'
import { parseRevisions } from '../history/revision-list.ts'
import { peel } from '../history/revisions.ts'
import { commitChanges, isSameAt } from '../history/tree-changes.ts'
import { type Walk, walkCommits } from '../history/walk.ts'
import { type Options, parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { type Commit, formatSignature } from '../store/commit.ts'
import { parseDate } from '../store/dates.ts'
import { DIFF_OPTIONS, type DiffOutput, diffOutputOf, formatDiff } from '../text/diff-output.ts'
import type { PathFilter } from '../worktree/patterns.ts'

/** The options that choose commits. */
const WALK_OPTIONS =
  '#|n|max-count= skip= all branches=? tags=? remotes=? first-parent merges no-merges topo-order date-order author= committer= grep= i|regexp-ignore-case E|extended-regexp F|fixed-strings after|since= before|until= reverse follow S= G= full-history invert-grep'

/** The options that say how commits are shown. */
export const FORMAT_OPTIONS =
  'oneline pretty|format=? abbrev-commit no-abbrev-commit abbrev=? decorate=? no-decorate date= relative-date'

export function log(call: Call): void {
  const options = parseOptions(call.args, `${WALK_OPTIONS} ${FORMAT_OPTIONS} ${DIFF_OPTIONS} graph m c cc no-merges`)
  const { repo } = call
  const { commits, changesOf } = chosenCommits(repo, options)
  const output = diffOutputOf(options, [])
  const format = formatOf(options)
  const isLinear = options.has('graph')
  if (isLinear) assertLinear(commits)
  const texts = commits.map((commit) => {
    const isMerge = commit.parents.length > 1 && !options.has('first-parent')
    return entryOf(repo, commit, format, isMerge ? '' : formatDiff(repo, changesOf(commit, output), output), output)
  })
  const shown = isLinear
    ? texts.map((text, index) => asGraph(text, index === texts.length - 1 && isRoot(commits[index])))
    : texts
  call.out(joinEntries(shown, format))
}

function isRoot(commit: Commit | undefined): boolean {
  return commit?.parents.length === 0
}

/** Returns a commit with what it has changed. */
export function entryOf(
  repo: Repository,
  commit: Commit,
  format: CommitFormat,
  diff: string,
  { parts }: DiffOutput,
): string {
  const text = formatCommit(repo, commit, format)
  const isOwn = !FORMATS.includes(format.format)
  const isLine = isOwn || format.format === 'oneline'
  if (diff === '' && isOwn && format.separated) return text
  const whole = isLine ? `${text}\n` : text
  if (diff === '') return whole
  if (format.format === 'oneline' || (isOwn && format.separated)) return whole + diff
  const between = parts[0] === 'stat' && parts.includes('patch') && !isLine ? '---\n' : '\n'
  return `${whole}${between}${diff}`
}

/** Returns commits one after the other. */
export function joinEntries(entries: readonly string[], { separated, format }: CommitFormat): string {
  return (format === '' ? entries.map((entry) => entry.replace(/^\n/, '')) : entries).join(separated ? '\n' : '')
}

export function formatOf(options: Options): CommitFormat {
  const isOneline = options.has('oneline')
  const text = isOneline ? 'oneline' : (options.value('format') ?? 'medium')
  const decorate = options.value('decorate')
  return parseFormat(text === '' ? 'medium' : text, {
    short: (isOneline && !options.has('no-abbrev-commit')) || options.has('abbrev-commit'),
    decorate: decorate !== undefined && decorate !== 'no' && decorate !== 'auto' && !options.has('no-decorate'),
    date: options.has('relative-date') ? 'relative' : (options.value('date') ?? 'default'),
  })
}

/** Draws the graph of a history without branches. */
function asGraph(text: string, isLast: boolean): string {
  const lines = text.replace(/\n$/, '').split('\n')
  return `${lines.map((line, index) => (index === 0 ? `* ${line}` : `${isLast ? ' ' : '|'} ${line}`.trimEnd())).join('\n')}\n`
}

function assertLinear(commits: readonly Commit[]): void {
  for (const [index, commit] of commits.entries()) {
    const next = commits[index + 1]
    if (commit.parents.length > 1 || (next && commit.parents[0] !== next.id))
      throw fatal('--graph of a history with branches is not available here; leave it out')
  }
}

/** Returns the commits that options and operands choose. */
export function chosenCommits(repo: Repository, options: Options) {
  const list = parseRevisions(repo, options)
  const refs = [
    ...(options.has('all') ? ['refs/'] : []),
    ...(options.has('branches') ? ['refs/heads/'] : []),
    ...(options.has('tags') ? ['refs/tags/'] : []),
  ].flatMap((prefix) => repo.refs.list(prefix).map(({ id }) => id))
  const head = repo.headId
  const isDefault = list.given.length === 0 && !['all', 'branches', 'tags', 'remotes'].some((name) => options.has(name))
  if (isDefault && head === null) throw fatal(`your current branch '${repo.branch}' does not have any commits yet`)
  const from = [...list.from, ...refs, ...(isDefault || options.has('all') ? [head] : [])].flatMap((id) => {
    const commit = id === null ? null : peel(repo, id, 'commit')
    return commit === null ? [] : [commit]
  })
  const given = repo.filterOf(list.paths)
  const follow = options.has('follow') && list.paths.length === 1 ? new Follower(repo, list.paths[0] as string) : null
  const walk: Walk = {
    from,
    without: list.without,
    firstParent: options.has('first-parent'),
    topological: options.has('topo-order') || options.has('graph'),
    simplify: follow ? (commit) => follow.simplify(commit) : (commit) => simplify(repo, commit, given),
  }
  const skip = Number(options.value('skip') ?? 0)
  const most = options.has('max-count') ? Number(options.value('max-count')) : Number.POSITIVE_INFINITY
  const matches = commitFilter(repo, options, given)
  const commits: Commit[] = []
  let skipped = 0
  if (most !== 0)
    for (const commit of walkCommits(repo, walk)) {
      if (!matches(commit)) continue
      if (skipped++ < skip) continue
      commits.push(commit)
      if (most >= 0 && commits.length >= most) break
    }
  if (options.has('reverse')) commits.reverse()
  return {
    commits,
    /** Returns what a commit has changed of the files asked for. */
    changesOf: (commit: Commit, { findRenames }: DiffOutput) =>
      follow ? follow.changesOf(commit) : commitChanges(repo, commit, given, findRenames),
  }
}

function simplify(repo: Repository, commit: Commit, filter: PathFilter) {
  const { parents, tree } = commit
  if (filter.isEmpty) return { parents, isListed: true }
  if (parents.length === 0) return { parents, isListed: !isSameAt(repo, null, tree, filter) }
  const same = parents.find((parent) => isSameAt(repo, repo.commit(parent).tree, tree, filter))
  return same === undefined ? { parents, isListed: true } : { parents: [same], isListed: false }
}

/** Follows a file over its renames, from the newest commit on. */
class Follower {
  readonly #repo: Repository
  readonly #changes = new Map<string, ReturnType<typeof commitChanges>>()
  #path: string

  constructor(repo: Repository, given: string) {
    this.#repo = repo
    this.#path = repo.pathOf(given)
  }

  simplify(commit: Commit) {
    const all = commitChanges(this.#repo, commit)
    const found = all.filter((change) => pathOf(change) === this.#path)
    this.#changes.set(commit.id, found)
    const [change] = found
    if (change?.kind === 'R' && change.before) this.#path = change.before.path
    return { parents: commit.parents, isListed: found.length > 0 && commit.parents.length < 2 }
  }

  changesOf({ id }: Commit) {
    return this.#changes.get(id) ?? []
  }
}

function commitFilter(repo: Repository, options: Options, paths: PathFilter): (commit: Commit) => boolean {
  const flags = options.has('regexp-ignore-case') ? 'im' : 'm'
  const expressions = (name: string) =>
    options
      .values(name)
      .map((text) => new RegExp(options.has('fixed-strings') ? toPattern(text) : basic(text, options), flags))
  const [authors, committers, words] = [expressions('author'), expressions('committer'), expressions('grep')]
  const [since, until] = [timeOf(options.value('since')), timeOf(options.value('until'))]
  const [picked, changed] = [options.value('S'), options.value('G')]
  const some = (all: readonly RegExp[], text: string) => all.length === 0 || all.some((each) => each.test(text))
  return (commit) =>
    some(authors, formatSignature(commit.author)) &&
    some(committers, formatSignature(commit.committer)) &&
    some(words, commit.message) !== (options.has('invert-grep') && words.length > 0) &&
    (since === null || commit.committer.time >= since) &&
    (until === null || commit.committer.time <= until) &&
    !(options.has('merges') && commit.parents.length < 2) &&
    !(options.has('no-merges') && commit.parents.length > 1) &&
    (picked === undefined || hasPicked(repo, commit, paths, picked)) &&
    (changed === undefined || hasChangedLine(repo, commit, paths, new RegExp(basic(changed, options), flags)))
}

/** Returns the source of a regular expression of git's basic kind. */
export function basic(text: string, options: Options): string {
  if (options.has('extended-regexp') || options.has('P')) return text
  return text.replace(/\\([+?|(){}])|([+?|(){}])/g, (_, special, plain) => special ?? `\\${plain}`)
}

function timeOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const date = parseDate(text)
  if (!date) throw fatal(`the date '${text}' is not available here; say it as 2025-01-31 or 2025-01-31T10:00:00`)
  return date.time
}

function hasPicked(repo: Repository, commit: Commit, paths: PathFilter, text: string): boolean {
  const count = (content: string) => content.split(text).length
  return (
    commit.parents.length < 2 &&
    commitChanges(repo, commit, paths).some(
      ({ before, after }) => count(before?.read() ?? '') !== count(after?.read() ?? ''),
    )
  )
}

function hasChangedLine(repo: Repository, commit: Commit, paths: PathFilter, expression: RegExp): boolean {
  const lines = (content: string) => new Set(content.split('\n').filter((line) => expression.test(line)))
  return (
    commit.parents.length < 2 &&
    commitChanges(repo, commit, paths).some(({ before, after }) => {
      const [old, current] = [lines(before?.read() ?? ''), lines(after?.read() ?? '')]
      return old.size !== current.size || [...old].some((line) => !current.has(line))
    })
  )
}

export function revList(call: Call): void {
  const options = parseOptions(call.args, `${WALK_OPTIONS} ${FORMAT_OPTIONS} count parents`)
  if (options.operands.length === 0 && !options.has('all') && !options.has('branches') && !options.has('tags'))
    throw fatal('usage: git rev-list [<options>] <commit>... [--] [<path>...]')
  const { repo } = call
  const { commits } = chosenCommits(repo, options)
  if (options.has('count')) {
    call.out(`${commits.length}\n`)
    return
  }
  const format = options.has('format') || options.has('oneline') ? formatOf(options) : null
  for (const commit of commits) {
    const id = options.has('abbrev-commit') ? repo.shorten(commit.id) : commit.id
    if (format?.format === 'oneline') call.out(`${formatCommit(repo, commit, format)}\n`)
    else if (format) call.out(`commit ${id}\n${formatCommit(repo, commit, format)}\n`)
    else call.out(`${[id, ...(options.has('parents') ? commit.parents : [])].join(' ')}\n`)
  }
}

export function shortlog(call: Call): void {
  const options = parseOptions(
    call.args,
    `${WALK_OPTIONS} s|summary N|numbered e|email c|group= no-merges`.replace('#|n|max-count=', 'n max-count='),
  )
  const { repo } = call
  const { commits } = chosenCommits(repo, options)
  const groups = new Map<string, string[]>()
  for (const { author, message } of commits.toReversed()) {
    const name = options.has('email') ? `${author.name} <${author.email}>` : author.name
    groups.set(name, [...(groups.get(name) ?? []), (message.split('\n', 1)[0] ?? '').trim()])
  }
  const sorted = [...groups].sort(([one, a], [other, b]) => {
    const count = options.has('n') || options.has('numbered') ? b.length - a.length : 0
    return count || (one < other ? -1 : 1)
  })
  for (const [name, subjects] of sorted)
    call.out(
      options.has('summary')
        ? `${String(subjects.length).padStart(6)}\t${name}\n`
        : `${name} (${subjects.length}):\n${subjects.map((subject) => `      ${subject}\n`).join('')}\n`,
    )
}
