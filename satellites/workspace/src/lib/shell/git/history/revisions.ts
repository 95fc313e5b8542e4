import { fatal } from '../git-error.ts'
import type { Repository } from '../repository.ts'
import { readTag } from '../store/commit.ts'
import { readTree } from '../store/tree.ts'

/** Returns the full name of a reference that is said shortly; `null` if there is none. */
export function findRef(repo: Repository, name: string): string | null {
  const places = ['', 'refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/']
  return places.map((place) => place + name).find((full) => repo.refs.find(full) !== null) ?? null
}

/** Returns the id of the object that a revision means; `null` if there is none. */
export function findRevision(repo: Repository, text: string): string | null {
  const colon = text.indexOf(':')
  if (colon >= 0 && !text.startsWith(':/') && !text.slice(0, colon).includes('{'))
    return findInTree(repo, text.slice(0, colon), text.slice(colon + 1))
  const [, base = '', steps = ''] = /^(.*?)((?:~\d*|\^(?:\{\w*\}|\d*))*)$/s.exec(text) ?? []
  let id = findBase(repo, base)
  for (const [step] of steps.matchAll(/~\d*|\^(?:\{\w*\}|\d*)/g)) {
    if (id === null) return null
    id = stepFrom(repo, id, step)
  }
  return id
}

function stepFrom(repo: Repository, id: string, step: string): string | null {
  if (step.startsWith('^{')) return peel(repo, id, step.slice(2, -1))
  let at = peel(repo, id, 'commit')
  const count = step.length === 1 ? 1 : Number(step.slice(1))
  if (step.startsWith('^')) {
    if (at === null || count === 0) return at
    return repo.commit(at).parents[count - 1] ?? null
  }
  for (let left = count; left > 0 && at !== null; left--) at = repo.commit(at).parents[0] ?? null
  return at
}

/** Returns the object of a type that an object leads to: a commit of a tag, a tree of a commit. */
export function peel(repo: Repository, id: string, type: string): string | null {
  let at = id
  for (;;) {
    const found = repo.objects.find(at)
    if (!found) return null
    if (found.type === type || (type === '' && found.type !== 'tag') || type === 'object') return at
    if (found.type === 'tag') at = readTag(repo.objects, at).object
    else if (found.type === 'commit' && type === 'tree') return repo.commit(at).tree
    else return null
  }
}

function findBase(repo: Repository, name: string): string | null {
  if (name === '@') return repo.refs.find('HEAD')
  const [, of = '', number = ''] = /^(.*)@\{(-?\d+)\}$/.exec(name) ?? []
  if (number !== '') return findLogged(repo, of, Number(number))
  if (/^[0-9a-f]{40}$/.test(name)) return name
  const ref = name === '' ? null : findRef(repo, name)
  if (ref !== null) return repo.refs.find(ref)
  if (!/^[0-9a-f]{4,39}$/.test(name)) {
    // What `git describe` prints.
    const described = /-\d+-g([0-9a-f]{4,40})$/.exec(name)?.[1]
    return described === undefined ? null : findBase(repo, described)
  }
  const found = repo.objects.idsWith(name)
  if (found.length <= 1) return found[0] ?? null
  const commits = found.filter((id) => repo.objects.read(id).type === 'commit')
  return commits.length === 1 ? (commits[0] as string) : null
}

function findLogged(repo: Repository, name: string, number: number): string | null {
  if (number < 0) {
    const branch = nthBranch(repo, -number)
    return branch === null ? null : findBase(repo, branch)
  }
  const ref = name === '' ? (repo.refs.head ?? 'HEAD') : name === 'stash' ? 'refs/stash' : findRef(repo, name)
  if (ref === null) return null
  const log = repo.refs.log(ref)
  if (number === log.length && number > 0) return log.at(-1)?.from.replace(/^0+$/, '') || null
  return log[number]?.to ?? (number === 0 ? repo.refs.find(ref) : null)
}

/** Returns the branch or commit that was checked out before, `count` switches ago. */
export function nthBranch(repo: Repository, count: number): string | null {
  const moves = repo.refs
    .log('HEAD')
    .flatMap(({ message }) => /^checkout: moving from (\S+) to /.exec(message)?.[1] ?? [])
  return moves[count - 1] ?? null
}

function findInTree(repo: Repository, revision: string, path: string): string | null {
  if (revision === '') return findInIndex(repo, path)
  const commit = findRevision(repo, revision)
  const tree = commit === null ? null : peel(repo, commit, 'tree')
  return tree === null ? null : findAt(repo, tree, pathIn(repo, path))
}

function findInIndex(repo: Repository, text: string): string | null {
  const [, stage = '0', path = ''] = /^(?:([0-3]):)?(.*)$/s.exec(text) ?? []
  const full = pathIn(repo, path)
  return repo.index.entries.find((entry) => entry.path === full && entry.stage === Number(stage))?.id ?? null
}

function pathIn(repo: Repository, path: string): string {
  return /^\.\.?(\/|$)/.test(path) ? repo.pathOf(path) : path.replace(/\/$/, '')
}

/** Returns the id of what a tree has at a path. */
export function findAt(repo: Repository, tree: string, path: string): string | null {
  let id = tree
  for (const name of path.split('/').filter(Boolean)) {
    if (repo.objects.read(id).type !== 'tree') return null
    const item = readTree(repo.objects, id).get(name)
    if (!item) return null
    id = item.id
  }
  return id
}

/** Returns the object that a revision means. */
export function parseRevision(repo: Repository, text: string): string {
  const id = findRevision(repo, text)
  if (id === null) throw unknownRevision(text)
  return id
}

/** Returns the commit that a revision means. */
export function parseCommit(repo: Repository, text: string): string {
  const id = peel(repo, parseRevision(repo, text), 'commit')
  if (id === null) throw unknownRevision(text)
  return id
}

/** Returns the commit that a revision means; `null` if it means none. */
export function findCommit(repo: Repository, text: string): string | null {
  const id = findRevision(repo, text)
  return id === null ? null : peel(repo, id, 'commit')
}

export function unknownRevision(text: string) {
  return fatal(
    `ambiguous argument '${text}': unknown revision or path not in the working tree.\nUse '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'`,
  )
}
