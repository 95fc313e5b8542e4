import { fatal } from '../git-error.ts'
import type { Repository } from '../repository.ts'
import { bodyOf, type Commit, type Signature, subjectOf } from '../store/commit.ts'
import { formatDate } from '../store/dates.ts'
import { peel } from './revisions.ts'

/** How commits are shown. */
export interface CommitFormat {
  /** `medium`, `oneline`, … or a text with placeholders, such as `format:%h %s`. */
  readonly format: string
  /** A format of `--date`. */
  readonly date: string
  /** Whether ids of commits are short. */
  readonly short: boolean
  /** Whether the references to a commit are said. */
  readonly decorate: boolean
  /** Whether there is a separator between commits, and not an end to each. */
  readonly separated: boolean
}

export const FORMATS = ['oneline', 'short', 'medium', 'full', 'fuller', 'raw', 'reference', 'email']

/** Returns a format of `--pretty` or `--format`. */
export function parseFormat(text: string, given: Partial<CommitFormat> = {}): CommitFormat {
  const base = { date: 'default', short: false, decorate: false, separated: true, ...given }
  if (text.startsWith('format:')) return { ...base, format: text.slice(7), separated: true }
  if (text.startsWith('tformat:')) return { ...base, format: text.slice(8), separated: false }
  if (text.includes('%')) return { ...base, format: text, separated: false }
  if (text === 'reference') return { ...base, format: '%h (%s, %cs)', separated: false }
  if (!FORMATS.includes(text)) throw fatal(`invalid --pretty format: ${text}`)
  return { ...base, format: text, separated: text !== 'oneline' }
}

/** Returns a commit as a format shows it, with a line feed at its end. */
export function formatCommit(repo: Repository, commit: Commit, format: CommitFormat): string {
  const { format: kind } = format
  if (!FORMATS.includes(kind)) return `${withPlaceholders(repo, commit, format)}`
  const id = format.short ? repo.shorten(commit.id) : commit.id
  const names = format.decorate ? decorationOf(repo, commit.id) : ''
  const decoration = names === '' ? '' : ` (${names})`
  if (kind === 'oneline') return `${id}${decoration} ${subjectOf(commit.message)}`
  const date = (signature: Signature) => dateOf(repo, signature, format.date)
  const who = ({ name, email }: Signature) => `${name} <${email}>`
  const head = [`commit ${id}${decoration}`]
  if (kind === 'raw') {
    head.push(`tree ${commit.tree}`, ...commit.parents.map((parent) => `parent ${parent}`))
    const stamp = (signature: Signature) => `${who(signature)} ${signature.time} ${signature.zone}`
    head.push(`author ${stamp(commit.author)}`, `committer ${stamp(commit.committer)}`)
  } else {
    if (commit.parents.length > 1) head.push(`Merge: ${commit.parents.map((parent) => repo.shorten(parent)).join(' ')}`)
    if (kind === 'fuller')
      head.push(
        `Author:     ${who(commit.author)}`,
        `AuthorDate: ${date(commit.author)}`,
        `Commit:     ${who(commit.committer)}`,
        `CommitDate: ${date(commit.committer)}`,
      )
    else head.push(`Author: ${who(commit.author)}`)
    if (kind === 'full') head.push(`Commit: ${who(commit.committer)}`)
    if (kind === 'medium') head.push(`Date:   ${date(commit.author)}`)
  }
  const message = kind === 'short' ? subjectOf(commit.message) : commit.message.replace(/\s+$/, '')
  const body = message
    .replace(/^\n+/, '')
    .split('\n')
    .map((line) => (line === '' && kind !== 'short' ? '    ' : `    ${line}`).replace(/^ {4}$/, '    '))
    .join('\n')
  return `${head.join('\n')}\n${message === '' ? '' : `\n${body}\n`}`
}

function dateOf(repo: Repository, signature: Signature, format: string): string {
  const text = formatDate(signature, format, repo.around.now)
  if (text === null) throw fatal(`unknown date format ${format}`)
  return text
}

/** Returns the references to a commit: `HEAD -> main, tag: v1`. */
function decorationOf(repo: Repository, id: string): string {
  const names: string[] = []
  const { branch } = repo
  if (repo.headId === id) names.push(branch === null ? 'HEAD' : `HEAD -> ${branch}`)
  for (const tag of repo.refs.list('refs/tags/'))
    if (tag.id === id || peel(repo, tag.id, 'commit') === id) names.push(`tag: ${tag.name.slice('refs/tags/'.length)}`)
  for (const { name, id: at } of repo.refs.list('refs/remotes/'))
    if (at === id) names.push(name.slice('refs/remotes/'.length))
  for (const { name, id: at } of repo.refs.list('refs/heads/'))
    if (at === id && name !== repo.refs.head) names.push(name.slice('refs/heads/'.length))
  if (repo.refs.find('refs/stash') === id) names.push('refs/stash')
  return names.join(', ')
}

function withPlaceholders(repo: Repository, commit: Commit, { format, date }: CommitFormat): string {
  let color = ''
  const signature = (letter: string, of: Signature): string | null => {
    const formats: Readonly<Record<string, () => string>> = {
      n: () => of.name,
      N: () => of.name,
      e: () => of.email,
      E: () => of.email,
      l: () => of.email.replace(/@.*/, ''),
      d: () => dateOf(repo, of, date),
      D: () => dateOf(repo, of, 'rfc'),
      r: () => dateOf(repo, of, 'relative'),
      t: () => String(of.time),
      i: () => dateOf(repo, of, 'iso'),
      I: () => dateOf(repo, of, 'iso-strict'),
      s: () => dateOf(repo, of, 'short'),
      h: () => dateOf(repo, of, 'human'),
    }
    return formats[letter]?.() ?? null
  }
  const plain: Readonly<Record<string, () => string>> = {
    H: () => commit.id,
    h: () => repo.shorten(commit.id),
    T: () => commit.tree,
    t: () => repo.shorten(commit.tree),
    P: () => commit.parents.join(' '),
    p: () => commit.parents.map((parent) => repo.shorten(parent)).join(' '),
    s: () => subjectOf(commit.message),
    f: () =>
      subjectOf(commit.message)
        .replace(/[^A-Za-z0-9._]+/g, '-')
        .replace(/\.{2,}/g, '.')
        .replace(/^-|[-.]+$/g, ''),
    b: () => bodyOf(commit.message),
    B: () => commit.message,
    d: () => {
      const names = decorationOf(repo, commit.id)
      return names === '' ? '' : ` (${names})`
    },
    D: () => decorationOf(repo, commit.id),
    n: () => '\n',
    '%': () => '%',
    N: () => '',
    e: () => '',
    m: () => '>',
  }
  return format.replace(
    /%([-+ ]?)(?:C(?:\([^)]*\)|reset|red|green|blue|yellow|bold)|a(.)|c(.)|x([0-9a-fA-F]{2})|([HhTtPpsfbBdDnNem%])|<\((\d+)(?:,(\w+))?\)%(\w))/g,
    (all, sign, author, committer, hex, letter) => {
      let text: string | null = color
      if (author !== undefined) text = signature(author, commit.author)
      else if (committer !== undefined) text = signature(committer, commit.committer)
      else if (hex !== undefined) text = String.fromCharCode(Number.parseInt(hex, 16))
      else if (letter !== undefined) text = plain[letter]?.() ?? null
      else color = ''
      if (text === null) return all
      if (sign === '+' && text !== '') return `\n${text}`
      if (sign === ' ' && text !== '') return ` ${text}`
      return text
    },
  )
}
