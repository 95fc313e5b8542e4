import { quotedPath } from '../bytes.ts'
import type { Call } from '../call.ts'
import { type FileChange, pathOf } from '../history/file-changes.ts'
import { findRef, peel } from '../history/revisions.ts'
import { parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import type { IndexEntry } from '../store/index-file.ts'
import { EVERY_PATH, type PathFilter } from '../worktree/patterns.ts'
import { findProgress, type Progress } from '../worktree/progress.ts'
import { stagedChanges, unstagedChanges, untrackedFiles } from '../worktree/working-files.ts'

/** What has changed since the last commit. */
interface Status {
  readonly staged: readonly FileChange[]
  readonly unstaged: readonly FileChange[]
  readonly conflicts: ReadonlyMap<string, { readonly [stage: number]: IndexEntry }>
  readonly untracked: readonly string[]
  readonly ignored: readonly string[]
}

interface StatusOptions {
  readonly untracked: 'no' | 'normal' | 'all'
  readonly ignored: boolean
  readonly filter: PathFilter
}

function readStatus(repo: Repository, { untracked, ignored, filter }: StatusOptions): Status {
  const only = (change: FileChange) => filter.matches(pathOf(change))
  const list = (wanted: boolean, of: { readonly all: boolean; readonly ignored?: boolean }) =>
    wanted ? untrackedFiles(repo, of).filter((path) => filter.matches(path.replace(/\/$/, ''))) : []
  return {
    staged: stagedChanges(repo, repo.treeOf(repo.headId)).filter(only),
    unstaged: unstagedChanges(repo).filter(only),
    conflicts: new Map([...repo.index.conflicts()].filter(([path]) => filter.matches(path))),
    untracked: list(untracked !== 'no', { all: untracked === 'all' }),
    ignored: list(ignored, { all: untracked === 'all', ignored: true }),
  }
}

/** Returns the status in sentences of all but what is ignored. */
export function statusText(repo: Repository): string {
  return longStatus(repo, readStatus(repo, { untracked: 'normal', ignored: false, filter: EVERY_PATH }))
}

export function status(call: Call): void {
  const options = parseOptions(
    call.args,
    's|short long porcelain=? b|branch u|untracked-files=? ignored=? z v|verbose show-stash ahead-behind renames',
  )
  const { repo } = call
  const given = options.value('untracked-files') ?? repo.config.get('status.showUntrackedFiles') ?? 'normal'
  const read = readStatus(repo, {
    untracked: given === '' ? 'all' : given === 'no' || given === 'all' ? given : 'normal',
    ignored: options.has('ignored'),
    filter: repo.filterOf([...options.operands, ...(options.paths ?? [])]),
  })
  const isPorcelain = options.has('porcelain')
  if (!isPorcelain && !options.has('short')) {
    call.out(longStatus(repo, read, given === 'no'))
    return
  }
  if (options.has('branch')) call.out(`## ${branchLine(repo)}\n`)
  const name = (path: string) => (isPorcelain ? path : repo.relative(path))
  call.out(shortStatus(read, name, options.has('z')))
}

function branchLine(repo: Repository): string {
  const { branch, headId } = repo
  if (headId === null) return `No commits yet on ${branch}`
  return branch ?? 'HEAD (no branch)'
}

/** Letters of a path in conflict, by its stages: base, ours, theirs. */
const CONFLICTS: Readonly<Record<string, readonly [letters: string, words: string]>> = {
  '1': ['DD', 'both deleted:'],
  '2': ['AU', 'added by us:'],
  '3': ['UA', 'added by them:'],
  '12': ['UD', 'deleted by them:'],
  '13': ['DU', 'deleted by us:'],
  '23': ['AA', 'both added:'],
  '123': ['UU', 'both modified:'],
}

function conflictOf(stages: { readonly [stage: number]: IndexEntry }): readonly [string, string] {
  return CONFLICTS[Object.keys(stages).sort().join('')] ?? ['UU', 'both modified:']
}

/** Returns a line for each file, with a letter for what is staged and one for what is not. */
function shortStatus(
  { staged, unstaged, conflicts, untracked, ignored }: Status,
  name: (path: string) => string,
  isForPrograms: boolean,
): string {
  const lines = new Map<string, { x: string; y: string; from: string | null }>()
  for (const change of staged)
    lines.set(pathOf(change), {
      x: change.kind,
      y: ' ',
      from: change.kind === 'R' ? (change.before?.path ?? null) : null,
    })
  for (const change of unstaged) {
    const known = lines.get(pathOf(change))
    if (known) known.y = change.kind
    else lines.set(pathOf(change), { x: ' ', y: change.kind, from: null })
  }
  for (const [path, stages] of conflicts) {
    const [letters] = conflictOf(stages)
    lines.set(path, { x: letters.charAt(0), y: letters.charAt(1), from: null })
  }
  const said = (path: string) => {
    const text = name(path)
    if (isForPrograms) return text
    const quoted = quotedPath(text)
    return quoted === text && text.includes(' ') ? `"${text}"` : quoted
  }
  const end = isForPrograms ? '\0' : '\n'
  const tracked = [...lines]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, { x, y, from }]) => {
      if (from === null) return `${x}${y} ${said(path)}`
      return isForPrograms ? `${x}${y} ${said(path)}\0${said(from)}` : `${x}${y} ${said(from)} -> ${said(path)}`
    })
  return [...tracked, ...untracked.map((path) => `?? ${said(path)}`), ...ignored.map((path) => `!! ${said(path)}`)]
    .map((line) => line + end)
    .join('')
}

const WORDS: Readonly<Record<string, string>> = {
  A: 'new file:   ',
  D: 'deleted:    ',
  M: 'modified:   ',
  R: 'renamed:    ',
  T: 'typechange: ',
}

/** Returns the status in sentences. */
function longStatus(repo: Repository, read: Status, hidesUntracked = false): string {
  const { staged, unstaged, conflicts, untracked, ignored } = read
  const isFirst = repo.headId === null
  const progress = findProgress(repo)
  const lines = headLines(repo, progress)
  if (progress) lines.push(...progressLines(repo, progress, conflicts.size > 0))
  if (isFirst) lines.push('', 'No commits yet', '')
  const parts: string[][] = []
  const said = (path: string) => quotedPath(repo.relative(path))
  const change = (each: FileChange) =>
    `\t${WORDS[each.kind]}${each.kind === 'R' ? `${said(each.before?.path ?? '')} -> ` : ''}${said(pathOf(each))}`
  const unstage = isFirst ? 'git rm --cached <file>..." to unstage' : 'git restore --staged <file>..." to unstage'
  const isJoining = progress?.kind === 'merge' || progress?.kind === 'cherry-pick'
  const advice = isJoining ? [] : [`  (use "${unstage})`]
  if (staged.length > 0) parts.push(['Changes to be committed:', ...advice, ...staged.map(change)])
  if (conflicts.size > 0) parts.push(conflictLines(conflicts, advice, said))
  if (unstaged.length > 0)
    parts.push([
      'Changes not staged for commit:',
      `  (use "git add${unstaged.some(({ kind }) => kind === 'D') ? '/rm' : ''} <file>..." to update what will be committed)`,
      '  (use "git restore <file>..." to discard changes in working directory)',
      ...unstaged.map(change),
    ])
  for (const [title, command, paths] of [
    ['Untracked files:', 'git add', untracked],
    ['Ignored files:', 'git add -f', ignored],
  ] as const)
    if (paths.length > 0)
      parts.push([
        title,
        `  (use "${command} <file>..." to include in what will be committed)`,
        ...paths.map((path) => `\t${said(path)}`),
      ])
  const body = parts.map((part) => `${part.join('\n')}\n\n`).join('')
  const end = endLine(read, isFirst, hidesUntracked, isJoining)
  const tail =
    hidesUntracked && body !== '' ? 'Untracked files not listed (use -u option to show untracked files)\n' : ''
  return `${lines.map((line) => `${line}\n`).join('')}${body}${tail}${end}`
}

function headLines(repo: Repository, progress: Progress | null): string[] {
  const { branch } = repo
  if (progress?.kind === 'rebase')
    return [`interactive rebase in progress; onto ${repo.shorten(progress.onto)}`, ...rebaseLines(repo)]
  return [branch === null ? detachedHead(repo) : `On branch ${branch}`]
}

/**
 * Says where `HEAD` is detached: by the reference that it was checked out with, if that still is of this commit, or
 * else by the commit.
 */
export function detachedHead(repo: Repository): string {
  const at = repo.refs.log('HEAD').find(({ message }) => message.startsWith('checkout: moving from '))
  const to = / to (\S+)$/.exec(at?.message ?? '')?.[1]
  const ref = to === undefined || to === 'HEAD' ? null : findRef(repo, to)
  const isStill = ref !== null && peel(repo, repo.refs.find(ref) as string, 'commit') === at?.to
  const name = isStill ? ref.replace(/^refs\/(tags|remotes)\//, '') : repo.shorten(at?.to ?? repo.headId ?? '')
  return `HEAD detached ${at === undefined || at.to === repo.headId ? 'at' : 'from'} ${name}`
}

function rebaseLines(repo: Repository): string[] {
  const list = (name: string) =>
    (repo.folder.read(`rebase-merge/${name}`) ?? '')
      .split('\n')
      .filter((line) => /^(pick|reword)/.test(line))
      .map((line) => line.replace(/^(\w+) ([0-9a-f]{40})/, (_, word, id) => `${word} ${repo.shorten(id)}`))
  const [done, left] = [list('done'), list('git-rebase-todo')]
  const plural = (count: number) => `${count} command${count === 1 ? '' : 's'}`
  return [
    `Last command${done.length === 1 ? '' : 's'} done (${plural(done.length)} done):`,
    ...done.slice(-2).map((line) => `   ${line}`),
    ...(left.length === 0
      ? ['No commands remaining.']
      : [
          `Next command${left.length === 1 ? '' : 's'} to do (${left.length} remaining command${left.length === 1 ? '' : 's'}):`,
          ...left.slice(0, 2).map((line) => `   ${line}`),
          '  (use "git rebase --edit-todo" to view and edit)',
        ]),
  ]
}

function progressLines(repo: Repository, progress: Progress, hasConflicts: boolean): string[] {
  if (progress.kind === 'merge')
    return hasConflicts
      ? [
          'You have unmerged paths.',
          '  (fix conflicts and run "git commit")',
          '  (use "git merge --abort" to abort the merge)',
          '',
        ]
      : ['All conflicts fixed but you are still merging.', '  (use "git commit" to conclude merge)', '']
  if (progress.kind === 'rebase') {
    const name = progress.branch === null ? '' : ` branch '${progress.branch}' on '${repo.shorten(progress.onto)}'`
    return [
      `You are currently rebasing${name}.`,
      ...(hasConflicts
        ? [
            '  (fix conflicts and then run "git rebase --continue")',
            '  (use "git rebase --skip" to skip this patch)',
            '  (use "git rebase --abort" to check out the original branch)',
          ]
        : ['  (all conflicts fixed: run "git rebase --continue")']),
      '',
    ]
  }
  const verb = progress.kind === 'revert' ? 'reverting' : 'cherry-picking'
  return [
    `You are currently ${verb} commit ${repo.shorten(progress.id)}.`,
    hasConflicts
      ? `  (fix conflicts and run "git ${progress.kind} --continue")`
      : `  (all conflicts fixed: run "git ${progress.kind} --continue")`,
    `  (use "git ${progress.kind} --skip" to skip this patch)`,
    `  (use "git ${progress.kind} --abort" to cancel the ${progress.kind} operation)`,
    '',
  ]
}

function conflictLines(
  conflicts: Status['conflicts'],
  unstage: readonly string[],
  said: (path: string) => string,
): string[] {
  const kinds = [...conflicts].map(([path, stages]) => [path, conflictOf(stages)] as const)
  const hasDeleted = kinds.some(([, [letters]]) => letters.includes('D'))
  const all = kinds.every(([, [letters]]) => letters === 'DD')
  const resolve = all
    ? '  (use "git rm <file>..." to mark resolution)'
    : hasDeleted
      ? '  (use "git add/rm <file>..." as appropriate to mark resolution)'
      : '  (use "git add <file>..." to mark resolution)'
  return [
    'Unmerged paths:',
    ...unstage,
    resolve,
    ...kinds.map(([path, [, words]]) => `\t${words.padEnd(17)}${said(path)}`),
  ]
}

function endLine(
  { staged, unstaged, conflicts, untracked }: Status,
  isFirst: boolean,
  hidesUntracked: boolean,
  isMerging: boolean,
): string {
  if (staged.length > 0) return ''
  if (unstaged.length > 0 || conflicts.size > 0)
    return 'no changes added to commit (use "git add" and/or "git commit -a")\n'
  if (untracked.length > 0) return 'nothing added to commit but untracked files present (use "git add" to track)\n'
  if (isFirst) return 'nothing to commit (create/copy files and use "git add" to track)\n'
  if (isMerging) return ''
  return hidesUntracked
    ? 'nothing to commit (use -u to show untracked files)\n'
    : 'nothing to commit, working tree clean\n'
}
