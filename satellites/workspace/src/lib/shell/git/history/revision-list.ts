import { fatal } from '../git-error.ts'
import type { Options } from '../options.ts'
import type { Repository } from '../repository.ts'
import { findRevision, parseCommit, peel, unknownRevision } from './revisions.ts'
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
  for (const [index, text] of operands.entries()) {
    if (files.length === 0 && addRevision(repo, text, from, without)) {
      given.push(text)
      continue
    }
    if (paths !== null) throw fatal(`bad revision '${text}'`)
    if (!isPath(repo, text)) throw files.length === 0 || index > 0 ? unknownRevision(text) : unknownRevision(text)
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
    const [one, other] = [commitOf(repo, left || 'HEAD'), commitOf(repo, right || 'HEAD')]
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

function commitOf(repo: Repository, text: string): string | null {
  const id = findRevision(repo, text)
  return id === null ? null : peel(repo, id, 'commit')
}
