import { quotedPath } from '../bytes.ts'
import type { Call } from '../call.ts'
import { fatal, GitError } from '../git-error.ts'
import { pathOf } from '../history/file-changes.ts'
import { findRevision, peel } from '../history/revisions.ts'
import { parseOptions } from '../options.ts'
import type { ObjectType } from '../store/object.ts'
import { DIRECTORY, readTree, SUBMODULE, type TreeItem } from '../store/tree.ts'
import { unstagedChanges, untrackedFiles } from '../worktree/working-files.ts'
import { ignoredFiles, noMatch } from './staging.ts'

export function lsFiles(call: Call): number {
  const options = parseOptions(
    call.args,
    'c|cached d|deleted m|modified o|others i|ignored s|stage u|unmerged exclude-standard x|exclude= error-unmatch full-name z t k abbrev=? directory no-empty-directory',
  )
  const { repo } = call
  const end = options.has('z') ? '\0' : '\n'
  const given = [...options.operands, ...(options.paths ?? [])]
  const filter = repo.filterOf(given.length > 0 ? given : repo.prefix === '' ? [] : ['.'])
  const name = (path: string) => {
    const said = options.has('full-name') ? path : repo.relative(path)
    return options.has('z') ? said : quotedPath(said)
  }
  const lines: string[] = []
  if (options.has('others')) {
    const rules = options.has('ignored')
    const files = untrackedFiles(repo, { all: true, ignored: rules }).filter((path) => filter.matches(path))
    const more = !options.has('exclude-standard') && !rules ? ignoredFiles(repo) : []
    lines.push(...[...files, ...more.filter((path) => filter.matches(path))].sort().map(name))
  }
  const shows = options.has('stage') || options.has('unmerged')
  if (options.has('deleted') || options.has('modified')) {
    for (const change of unstagedChanges(repo)) {
      const path = pathOf(change)
      if (filter.matches(path) && (options.has('modified') || change.kind === 'D')) lines.push(name(path))
    }
  } else if (!options.has('others') || options.has('cached') || shows) {
    for (const { path, mode, id, stage } of repo.index.entries) {
      if (!filter.matches(path) || (options.has('unmerged') && stage === 0)) continue
      lines.push(shows ? `${mode.toString(8)} ${id} ${stage}\t${name(path)}` : name(path))
    }
  }
  if (options.has('error-unmatch')) {
    const missing = filter.unmatched(repo.index.entries.map(({ path }) => path))
    if (missing !== null) throw noMatch(missing, "\nDid you forget to 'git add'?")
  }
  call.out(lines.map((line) => line + end).join(''))
  return 0
}

export function lsTree(call: Call): void {
  const options = parseOptions(
    call.args,
    'r d t l|long name-only name-status full-name full-tree z abbrev=? object-only',
  )
  const { repo } = call
  const [name, ...given] = options.operands
  if (name === undefined) throw new GitError('usage: git ls-tree [<options>] <tree-ish> [<path>...]', 129)
  const id = findRevision(repo, name)
  const tree = id === null ? null : peel(repo, id, 'tree')
  if (tree === null) throw fatal(`Not a valid object name ${name}`)
  const paths = [...given, ...(options.paths ?? [])].map((path) => [repo.pathOf(path), path.endsWith('/')] as const)
  const lines: string[] = []
  const below = (path: string) => paths.some(([each, opens]) => each.startsWith(`${path}/`) || (each === path && opens))
  const isWanted = (path: string) =>
    paths.length === 0 || paths.some(([each, opens]) => (each === path && !opens) || path.startsWith(`${each}/`))
  const collect = (of: string, prefix: string) => {
    for (const [part, item] of readTree(repo.objects, of)) {
      const path = prefix + part
      const isTree = item.mode === DIRECTORY
      const opens = isTree && (options.has('r') ? isWanted(path) || below(path) : below(path))
      if (
        isWanted(path) &&
        (!isTree || !options.has('r') || options.has('t') || options.has('d')) &&
        !(options.has('d') && !isTree)
      )
        add(path, item)
      if (opens && !(options.has('d') && !options.has('r'))) collect(item.id, `${path}/`)
    }
  }
  const add = (path: string, item: TreeItem) => {
    const said = quotedPath(options.has('full-name') || options.has('full-tree') ? path : repo.relative(path))
    const size = () =>
      (item.mode === DIRECTORY || item.mode === SUBMODULE ? '-' : String(repo.objects.blob(item.id).length)).padStart(7)
    if (options.has('name-only') || options.has('name-status')) lines.push(said)
    else if (options.has('object-only')) lines.push(item.id)
    else lines.push(`${itemLine(item)}${options.has('long') ? ` ${size()}` : ''}\t${said}`)
  }
  const start = options.has('full-tree') ? '' : repo.prefix.replace(/\/$/, '')
  const from = start === '' ? tree : (findRevision(repo, `${name}:${start}`) ?? tree)
  collect(from, start === '' ? '' : `${start}/`)
  call.out(lines.map((line) => `${line}\n`).join(''))
}

/** Returns an entry of a tree as git prints it, without its name. */
export function itemLine({ mode, id }: TreeItem): string {
  return `${mode.toString(8).padStart(6, '0')} ${typeOf(mode)} ${id}`
}

function typeOf(mode: number): ObjectType {
  return mode === DIRECTORY ? 'tree' : mode === SUBMODULE ? 'commit' : 'blob'
}
