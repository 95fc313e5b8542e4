import type { Call } from '../call.ts'
import { fatal, GitError } from '../git-error.ts'
import { parseCommit } from '../history/revisions.ts'
import { commitChanges } from '../history/tree-changes.ts'
import { type Options, parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { type Commit, cleanMessage, parseSignature, type Signature, subjectOf } from '../store/commit.ts'
import { formatDate, parseDate } from '../store/dates.ts'
import { filesOf, type TreeItem, writeTree } from '../store/tree.ts'
import { formatModes, formatShortStat } from '../text/change-summary.ts'
import { EVERY_PATH } from '../worktree/patterns.ts'
import { clearProgress, findProgress } from '../worktree/progress.ts'
import { stagedFiles, toIndexEntry, workingSide } from '../worktree/working-files.ts'
import { assertNoConflicts, noMatch, stage, trackedChanges } from './staging.ts'
import { statusText } from './status.ts'

export function commit(call: Call): number {
  const options = parseOptions(
    call.args,
    'm|message= F|file= a|all amend edit no-edit e q|quiet allow-empty allow-empty-message n|no-verify author= date= reset-author C|reuse-message= c= s|signoff dry-run v|verbose o|only i|include p|patch cleanup= fixup= no-gpg-sign S u|untracked-files=? status porcelain short',
  )
  const { repo } = call
  if (options.has('patch')) throw fatal('commit -p needs a terminal, which is not here')
  assertNoConflicts(repo, 'Committing')
  if (options.has('all')) {
    const { changed, gone } = trackedChanges(repo, EVERY_PATH)
    stage(repo, changed, gone)
  }
  const given = [...options.operands, ...(options.paths ?? [])]
  if (given.length > 0 && options.has('all')) throw fatal(`paths '${given[0]} ...' with -a does not make sense`)
  const head = repo.headId
  const amended = options.has('amend') ? repo.commit(head ?? noCommit()) : null
  const files = given.length > 0 ? onlyPaths(repo, given, options.has('include')) : stagedFiles(repo)
  const tree = writeTree(repo.objects, files)
  const progress = findProgress(repo)
  const merged = progress?.kind === 'merge' && !amended ? mergeHeads(repo) : []
  const parents = amended ? amended.parents : head === null ? [] : [head, ...merged]
  const before = repo.treeOf(parents[0] ?? null)
  const isEmpty = parents.length > 1 ? false : before === null ? files.size === 0 : before === tree
  if (isEmpty && !options.has('allow-empty') && !(amended && parents.length === 0 && files.size === 0)) {
    const said = statusText(repo)
    if (amended) {
      call.out(said.replace('nothing to commit, working tree clean', 'No changes'))
      throw new GitError(
        'You asked to amend the most recent commit, but doing so would make\nit empty. You can repeat your command with --allow-empty, or you can\nremove the commit entirely with "git reset HEAD^".',
        1,
      )
    }
    if (!options.has('quiet')) call.out(said)
    return 1
  }
  const reused = options.value('reuse-message')
    ? repo.commit(parseCommit(repo, options.value('reuse-message') as string))
    : null
  const message = messageOf(call, options, amended ?? reused)
  if (message === '' && !options.has('allow-empty-message'))
    throw new GitError('Aborting commit due to empty commit message.', 1)
  if (options.has('dry-run')) {
    call.out(statusText(repo))
    return 0
  }
  const author = authorOf(repo, options, options.has('reset-author') ? null : (amended ?? reused))
  const made = repo.makeCommit({ tree, parents, author, message })
  const how = amended ? ' (amend)' : parents.length === 0 ? ' (initial)' : parents.length > 1 ? ' (merge)' : ''
  repo.refs.set('HEAD', made.id, `commit${how}: ${subjectOf(message)}`)
  if (given.length === 0) repo.index.save()
  clearProgress(repo)
  if (!options.has('quiet')) call.out(summaryOf(repo, made, amended !== null || reused !== null || options.has('date')))
  return 0
}

function noCommit(): never {
  throw fatal('You have nothing to amend.')
}

function mergeHeads(repo: Repository): string[] {
  return (repo.folder.read('MERGE_HEAD') ?? '').split('\n').filter(Boolean)
}

/** Returns the files of the last commit with what the working tree has at some paths, which are staged too. */
function onlyPaths(repo: Repository, given: readonly string[], withIndex: boolean): Map<string, TreeItem> {
  const filter = repo.filterOf(given)
  const known = repo.index.entries.map(({ path }) => path)
  const missing = filter.unmatched(known)
  if (missing !== null) throw noMatch(missing)
  const paths = known.filter((path) => filter.matches(path))
  const there = paths.filter((path) => workingSide(repo, path))
  stage(
    repo,
    there,
    paths.filter((path) => !there.includes(path)),
  )
  if (withIndex) return stagedFiles(repo)
  const files = filesOf(repo.objects, repo.treeOf(repo.headId))
  for (const path of paths) {
    const working = workingSide(repo, path)
    if (working) files.set(path, toIndexEntry(repo, working))
    else files.delete(path)
  }
  return files
}

function messageOf(call: Call, options: Options, from: Commit | null): string {
  const { repo } = call
  const file = options.value('file')
  const kept = repo.folder.read('MERGE_MSG') ?? repo.folder.read('SQUASH_MSG')
  let text: string | null = null
  if (options.has('message')) text = messageOfParts(options.values('message'))
  else if (file !== undefined) {
    text = file === '-' ? call.stdin : repo.tree.read(repo.pathOf(file))
    if (text === null) throw fatal(`could not read log file '${file}': No such file or directory`)
  } else if (options.has('fixup'))
    text = `fixup! ${subjectOf(repo.commit(parseCommit(repo, options.value('fixup') as string)).message)}`
  else if (from)
    text = options.has('no-edit') || options.has('reuse-message') || hasSilentEditor(repo) ? from.message : null
  else if (kept !== null && (options.has('no-edit') || hasSilentEditor(repo)))
    text = cleanMessage(kept, !options.has('no-edit'))
  if (text === null)
    throw new GitError(
      'error: Terminal is dumb, but EDITOR unset\nPlease supply the message using either -m or -F option.',
      1,
    )
  const message =
    options.value('cleanup') === 'verbatim' ? text : cleanMessage(text, options.value('cleanup') === 'strip')
  if (!options.has('signoff')) return message
  const { name, email } = repo.signature('COMMITTER')
  const line = `Signed-off-by: ${name} <${email}>\n`
  if (message.includes(line)) return message
  return `${message}${/\n\n(.*\n)*[\w-]+: .*\n$/.test(message) ? '' : '\n'}${line}`
}

/** Returns a message of the paragraphs that are given one by one. */
export function messageOfParts(parts: readonly string[]): string {
  return parts.map((part) => cleanMessage(part)).join('\n')
}

/** Whether the editor that is set leaves a message as it is. */
function hasSilentEditor({ around, config }: Repository): boolean {
  const { variables } = around
  const editor =
    variables.get('GIT_EDITOR') ?? config.get('core.editor') ?? variables.get('VISUAL') ?? variables.get('EDITOR')
  return editor !== undefined && editor !== null && /^(true|:|\/bin\/true|cat)$/.test(editor)
}

function authorOf(repo: Repository, options: Options, from: Commit | null): Signature {
  const [given, date] = [options.value('author'), options.value('date')]
  let author = from ? from.author : repo.signature('AUTHOR')
  if (given !== undefined) {
    if (!/<.*>/.test(given)) throw fatal(`--author '${given}' is not 'Name <email>' and matches no existing author`)
    author = { ...author, name: parseSignature(given).name.trim(), email: parseSignature(given).email }
  }
  if (date === undefined) return author
  const when = parseDate(date)
  if (!when) throw fatal(`invalid date format: ${date}`)
  return { ...author, ...when }
}

/** Returns what git says of a new commit. */
export function summaryOf(repo: Repository, made: Commit, saysDate: boolean): string {
  const { branch } = repo
  const root = made.parents.length === 0 ? ' (root-commit)' : ''
  const lines = [`[${branch ?? 'detached HEAD'}${root} ${repo.shorten(made.id)}] ${subjectOf(made.message)}`]
  const who = ({ name, email }: Signature) => `${name} <${email}>`
  if (who(made.author) !== who(made.committer)) lines.push(` Author: ${who(made.author)}`)
  if (saysDate) lines.push(` Date: ${formatDate(made.author, 'default', repo.around.now)}`)
  const head = `${lines.join('\n')}\n`
  if (made.parents.length > 1) return head
  const changes = commitChanges(repo, made)
  return `${head}${formatShortStat(changes)}${formatModes(changes)}`
}

/** Makes a commit of a tree on `HEAD`, with the author of another commit. */
export function commitTree(
  repo: Repository,
  tree: string,
  from: Pick<Commit, 'author' | 'message'>,
  logged: string,
): Commit {
  const head = repo.headId
  const { author, message } = from
  const made = repo.makeCommit({ tree, parents: head === null ? [] : [head], author, message })
  repo.refs.set('HEAD', made.id, logged)
  return made
}
