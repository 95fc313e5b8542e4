import type { Call } from '../call.ts'
import { failure, fatal, GitError } from '../git-error.ts'
import { parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { parentOf } from '../store/folder.ts'
import type { IndexEntry } from '../store/index-file.ts'
import { filesOf } from '../store/tree.ts'
import type { PathFilter } from '../worktree/patterns.ts'
import { toIndexEntry, unstagedSides, untrackedFiles, workingSide } from '../worktree/working-files.ts'
import { removeWorking, same } from '../worktree/write-files.ts'

export function add(call: Call): void {
  const options = parseOptions(
    call.args,
    'A|all u|update n|dry-run v|verbose f|force p|patch i|interactive N|intent-to-add ignore-errors refresh chmod=',
  )
  const { repo } = call
  if (options.has('patch') || options.has('interactive'))
    throw fatal('add -p and add -i need a terminal, which is not here')
  const given = [...options.operands, ...(options.paths ?? [])]
  if (given.length === 0 && !options.has('all') && !options.has('update')) {
    call.err("Nothing specified, nothing added.\nhint: Maybe you wanted to say 'git add .'?\n")
    return
  }
  if (given.includes(''))
    throw fatal('empty string is not a valid pathspec. please use . instead if you meant to match all paths')
  const filter = repo.filterOf(given)
  const untracked = options.has('update') ? [] : addable(repo, given, filter, options.has('force'))
  const { gone, changed } = trackedChanges(repo, filter)
  const paths = [...new Set([...changed, ...untracked])].sort()
  for (const path of given) if (filter.isEmpty || !isKnown(repo, path, untracked)) assertMatches(repo, path, untracked)
  if (options.has('verbose') || options.has('dry-run')) {
    const said = [...paths.map((path) => [path, 'add'] as const), ...gone.map((path) => [path, 'remove'] as const)]
    for (const [path, what] of said.sort()) call.out(`${what} '${path}'\n`)
  }
  if (!options.has('dry-run')) stage(repo, paths, gone)
}

/** Takes what the working tree has of some paths into the index. */
export function stage(repo: Repository, paths: readonly string[], gone: readonly string[]): void {
  const entries: IndexEntry[] = paths.flatMap((path) => {
    const working = workingSide(repo, path)
    return working ? [toIndexEntry(repo, working)] : []
  })
  // A file takes the place of what was in a directory of its name.
  const names = new Set(paths)
  const below = repo.index.entries.filter(({ path }) => hasAbove(path, names)).map(({ path }) => path)
  const above = paths.flatMap((path) => parentsOf(path).filter((parent) => repo.index.get(parent)))
  repo.index.update([...gone, ...below, ...above], entries)
}

function hasAbove(path: string, names: ReadonlySet<string>): boolean {
  return parentsOf(path).some((parent) => names.has(parent))
}

function parentsOf(path: string): string[] {
  const parents: string[] = []
  for (let above = parentOf(path); above !== ''; above = parentOf(above)) parents.push(above)
  return parents
}

/** Returns which files of the index have changed in the working tree, and which are gone. */
export function trackedChanges(repo: Repository, filter: PathFilter) {
  const { before, after } = unstagedSides(
    repo,
    repo.index.entries.filter(({ path }) => filter.matches(path)),
  )
  const conflicts = [...repo.index.conflicts().keys()].filter((path) => filter.matches(path))
  const isThere = (path: string) => workingSide(repo, path) !== null
  return {
    changed: [...after.keys(), ...conflicts.filter(isThere)],
    gone: [...[...before.keys()].filter((path) => !after.has(path)), ...conflicts.filter((path) => !isThere(path))],
  }
}

function addable(repo: Repository, given: readonly string[], filter: PathFilter, force: boolean): string[] {
  const files = untrackedFiles(repo, { all: true }).filter((path) => filter.matches(path.replace(/\/$/, '')))
  const plain = files.filter((path) => !path.endsWith('/'))
  if (force) return [...plain, ...ignoredFiles(repo).filter((path) => filter.matches(path))]
  const rules = repo.ignoredFiles()
  const ignored = given.filter((each) => {
    const path = repo.pathOf(each)
    const node = repo.tree.at(path)
    return (
      path !== '' &&
      node &&
      !repo.index.get(path) &&
      rules.has(path, node.kind === 'directory') &&
      !hasTracked(repo, path)
    )
  })
  if (ignored.length > 0)
    throw new GitError(
      `The following paths are ignored by one of your .gitignore files:\n${ignored.map((path) => `${repo.pathOf(path)}\n`).join('')}hint: Use -f if you really want to add them.`,
      1,
    )
  return plain
}

function hasTracked(repo: Repository, directory: string): boolean {
  return repo.index.entries.some(({ path }) => path.startsWith(`${directory}/`))
}

/** Returns the files that are ignored, with those in directories that are. */
export function ignoredFiles(repo: Repository): string[] {
  const collect = (path: string): string[] =>
    repo.tree.at(path)?.kind === 'directory'
      ? repo.tree.list(path).flatMap((name) => collect(`${path}/${name}`))
      : [path]
  return untrackedFiles(repo, { all: true, ignored: true }).flatMap((path) => collect(path.replace(/\/$/, '')))
}

/** Whether a path is in the index, or among others. */
export function isKnown(repo: Repository, given: string, untracked: readonly string[] = []): boolean {
  const filter = repo.filterOf([given])
  return repo.index.entries.some(({ path }) => filter.matches(path)) || untracked.some((path) => filter.matches(path))
}

function assertMatches(repo: Repository, given: string, untracked: readonly string[]): void {
  const path = repo.pathOf(given)
  if (path === '' || repo.tree.at(path) || isKnown(repo, given, untracked)) return
  throw fatal(`pathspec '${given}' did not match any files`)
}

export function rm(call: Call): void {
  const options = parseOptions(call.args, 'cached f|force r q|quiet n|dry-run ignore-unmatch')
  const { repo } = call
  const given = [...options.operands, ...(options.paths ?? [])]
  if (given.length === 0) throw fatal('No pathspec was given. Which files should I remove?')
  const filter = repo.filterOf(given)
  const paths = [...new Set(repo.index.entries.map(({ path }) => path))].filter((path) => filter.matches(path))
  const missing = filter.unmatched(paths)
  if (missing !== null && !options.has('ignore-unmatch')) throw fatal(`pathspec '${missing}' did not match any files`)
  if (!options.has('r'))
    for (const each of given) {
      const path = repo.pathOf(each)
      if (
        !/[*?[]/.test(each) &&
        !paths.includes(path) &&
        paths.some((other) => path === '' || other.startsWith(`${path}/`))
      )
        throw fatal(`not removing '${each}' recursively without -r`)
    }
  if (!options.has('force')) assertUnchanged(repo, paths, options.has('cached'))
  for (const path of paths) {
    if (!options.has('quiet')) call.out(`rm '${path}'\n`)
    if (!options.has('cached') && !options.has('dry-run')) removeWorking(repo, path)
  }
  if (options.has('dry-run')) return
  repo.index.update(paths, [])
}

function assertUnchanged(repo: Repository, paths: readonly string[], isCached: boolean): void {
  const head = filesOf(repo.objects, repo.treeOf(repo.headId))
  const lists: Record<'both' | 'staged' | 'local', string[]> = { both: [], staged: [], local: [] }
  for (const path of paths) {
    const [entry, working] = [repo.index.get(path), workingSide(repo, path)]
    if (!entry) continue
    const isLocal = working !== null && !same(working, entry)
    const isStaged = !same(head.get(path), entry)
    if (isLocal && isStaged) lists.both.push(path)
    else if (!isCached && isStaged && working) lists.staged.push(path)
    else if (!isCached && isLocal) lists.local.push(path)
  }
  const say = (
    some: readonly string[],
    what: string,
    advice = 'use --cached to keep the file, or -f to force removal',
  ) =>
    some.length === 0
      ? []
      : [
          `error: the following file${some.length === 1 ? ' has' : 's have'} ${what}:\n${some.map((path) => `    ${path}\n`).join('')}(${advice})`,
        ]
  const said = [
    ...say(lists.both, 'staged content different from both the\nfile and the HEAD', 'use -f to force removal'),
    ...say(lists.staged, 'changes staged in the index'),
    ...say(lists.local, 'local modifications'),
  ]
  if (said.length > 0) throw new GitError(said.join('\n'), 1)
}

export function mv(call: Call): void {
  const options = parseOptions(call.args, 'f|force k n|dry-run v|verbose')
  const { repo } = call
  const given = [...options.operands, ...(options.paths ?? [])]
  const last = given.pop()
  if (last === undefined || given.length === 0)
    throw new GitError('usage: git mv [<options>] <source>... <destination>', 129)
  const to = repo.pathOf(last)
  const isFolder = repo.tree.at(to)?.kind === 'directory' || to === ''
  if (given.length > 1 && !isFolder) throw fatal(`destination '${last}' is not a directory`)
  for (const each of given) moveOne(call, each, repo.pathOf(each), isFolder, to, last, options.has('force'))
}

function moveOne(
  call: Call,
  given: string,
  from: string,
  isFolder: boolean,
  to: string,
  last: string,
  force: boolean,
): void {
  const { repo } = call
  const name = from.slice(from.lastIndexOf('/') + 1)
  const target = isFolder ? (to === '' ? name : `${to}/${name}`) : to
  const bad = (why: string) => fatal(`${why}, source=${from}, destination=${target}`)
  const node = repo.tree.at(from)
  if (!node) throw bad('bad source')
  const moved = repo.index.entries.filter(({ path }) => path === from || path.startsWith(`${from}/`))
  if (moved.length === 0)
    throw bad(node.kind === 'directory' ? 'source directory is empty' : 'not under version control')
  if (repo.tree.at(target) && !force) throw bad('destination exists')
  if (!isFolder && last.endsWith('/')) throw bad('destination directory does not exist')
  if (parentOf(target) !== '' && !repo.tree.at(parentOf(target)))
    throw fatal(`renaming '${given}' failed: No such file or directory`)
  if (repo.tree.at(target)?.kind === 'file') repo.tree.remove(target)
  repo.tree.move(from, target)
  repo.index.update(
    moved.map(({ path }) => path),
    moved.map((entry) => ({ ...entry, path: target + entry.path.slice(from.length) })),
  )
}

export function clean(call: Call): void {
  const options = parseOptions(call.args, 'n|dry-run f|force d q|quiet x X e|exclude= i|interactive')
  const { repo } = call
  const isDry = options.has('dry-run')
  if (!isDry && !options.has('force'))
    throw fatal('clean.requireForce defaults to true and neither -i, -n, nor -f given; refusing to clean')
  const filter = repo.filterOf([...options.operands, ...(options.paths ?? [])])
  const wanted = [
    ...(options.has('X') ? [] : untrackedFiles(repo, { all: false })),
    ...(options.has('x') || options.has('X') ? untrackedFiles(repo, { all: false, ignored: true }) : []),
  ].sort()
  for (const path of wanted) {
    if (!filter.matches(path.replace(/\/$/, '')) || !path.startsWith(repo.prefix)) continue
    if (path.endsWith('/') && !options.has('d')) continue
    if (!options.has('quiet') || isDry) call.out(`${isDry ? 'Would remove' : 'Removing'} ${repo.relative(path)}\n`)
    if (!isDry) repo.tree.remove(path.replace(/\/$/, ''))
  }
}

/** Throws if paths are in conflict. */
export function assertNoConflicts(
  repo: Repository,
  action: string,
  end = 'Exiting because of an unresolved conflict.',
): void {
  if (repo.index.conflicts().size === 0) return
  throw new GitError(
    `error: ${action} is not possible because you have unmerged files.\nhint: Fix them up in the work tree, and then use 'git add/rm <file>'\nhint: as appropriate to mark resolution and make a commit.\nfatal: ${end}`,
  )
}

export const noMatch = (given: string, advice = '') =>
  failure(`pathspec '${given}' did not match any file(s) known to git${advice}`)
