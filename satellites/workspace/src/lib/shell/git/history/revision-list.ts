import { fatal } from '../git-error.ts'
import type { Options } from '../options.ts'
import type { Repository } from '../repository.ts'
import { findCommit, findRevision, parseCommit, unknownRevision } from './revisions.ts'
import { mergeBases } from './walk.ts'

/** What the operands of a command with revisions and paths mean. */
export interface RevisionList {
  /** The objects named, in their order. */
  readonly from: readonly string[]
  readonly without: readonly string[]
  /** The revisions as they were given. */
  readonly given: readonly string[]
  readonly paths: readonly string[]
}

/** Returns the revisions and paths of operands: what is no revision is a path, and so is all that follows it. */
export function parseRevisions(repo: Repository, { operands, paths }: Options): RevisionList {
  const [from, without, given, files]: [string[], string[], string[], string[]] = [[], [], [], []]
  for (const text of operands) {
    if (files.length === 0 && addRevision(repo, text, from, without)) {
      given.push(text)
      continue
    }
    if (paths !== null) throw fatal(`bad revision '${text}'`)
    if (!isPath(repo, text)) throw unknownRevision(text)
    files.push(text)
  }
  return { from, without, given, paths: [...files, ...(paths ?? [])] }
}

function isPath(repo: Repository, text: string): boolean {
  if (/[*?[]/.test(text)) return true
  try {
    const path = repo.pathOf(text)
    return path === '' || repo.tree.at(path) !== null
  } catch {
    return false
  }
}

function addRevision(repo: Repository, text: string, from: string[], without: string[]): boolean {
  const [, left = '', dots, right = ''] = /^(.*?)(\.{2,3})(.*)$/.exec(text) ?? []
  if (dots !== undefined && !text.startsWith('.') && !/^\.\.\.?\//.test(text)) {
    const [one, other] = [findCommit(repo, left || 'HEAD'), findCommit(repo, right || 'HEAD')]
    if (one === null || other === null) return false
    if (dots === '..') without.push(one)
    else {
      from.push(one)
      without.push(...mergeBases(repo, one, other))
    }
    from.push(other)
    return true
  }
  if (text.startsWith('^')) {
    without.push(parseCommit(repo, text.slice(1)))
    return true
  }
  const id = findRevision(repo, text)
  if (id === null || !repo.objects.has(id)) return false
  from.push(id)
  return true
}
