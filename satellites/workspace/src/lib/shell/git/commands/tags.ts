import type { Call } from '../call.ts'
import { failure, fatal, GitError } from '../git-error.ts'
import { formatRef } from '../history/format-ref.ts'
import { parseCommit, parseRevision, peel } from '../history/revisions.ts'
import { isAncestor } from '../history/walk.ts'
import { type Options, parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import { bodyOf, cleanMessage, formatSignature, readTag, subjectOf } from '../store/commit.ts'
import { isRefName } from '../store/refs.ts'
import { globSource } from '../worktree/patterns.ts'
import { sortRefs, withValues } from './branches.ts'

const TAGS = 'refs/tags/'

export function tag(call: Call): void {
  const options = parseOptions(
    withValues(call.args),
    'l|list n=? a|annotate m|message= F|file= d|delete f|force s|sign sort= contains=? merged=? points-at= format= i|ignore-case v|verify',
  )
  const { repo } = call
  if (options.has('sign') || options.has('verify')) throw fatal('signatures are not available here')
  if (options.has('delete')) deleteTags(call, options.operands)
  else if (
    options.operands.length === 0 ||
    ['list', 'n', 'contains', 'merged', 'points-at'].some((name) => options.has(name))
  )
    listTags(call, options)
  else createTag(repo, call, options)
}

function deleteTags(call: Call, names: readonly string[]): void {
  const { refs } = call.repo
  let failed = false
  for (const name of names) {
    const id = refs.find(TAGS + name)
    if (id === null) {
      call.err(`error: tag '${name}' not found.\n`)
      failed = true
      continue
    }
    refs.remove(TAGS + name)
    call.out(`Deleted tag '${name}' (was ${call.repo.shorten(id)})\n`)
  }
  if (failed) throw new GitError('', 1)
}

function createTag(repo: Repository, call: Call, options: Options): void {
  const [name = '', target = 'HEAD'] = options.operands
  if (!isRefName(name) || name === 'HEAD') throw fatal(`'${name}' is not a valid tag name.`)
  const before = repo.refs.find(TAGS + name)
  if (before !== null && !options.has('force')) throw fatal(`tag '${name}' already exists`)
  let id: string
  try {
    id = parseRevision(repo, target)
  } catch {
    throw fatal(`Failed to resolve '${target}' as a valid ref.`)
  }
  const file = options.value('file')
  const isAnnotated = options.has('annotate') || options.has('message') || file !== undefined
  if (isAnnotated) {
    const given = options.has('message')
      ? options.values('message').join('\n\n')
      : file === undefined
        ? null
        : file === '-'
          ? call.stdin
          : repo.tree.read(repo.pathOf(file))
    if (given === null)
      throw failure('Terminal is dumb, but EDITOR unset\nPlease supply the message using either -m or -F option.')
    const { type } = repo.objects.read(id)
    const tagger = formatSignature(repo.signature('COMMITTER'))
    id = repo.objects.write(
      'tag',
      `object ${id}\ntype ${type}\ntag ${name}\ntagger ${tagger}\n\n${cleanMessage(given)}`,
    )
  }
  repo.refs.set(TAGS + name, id, '')
  if (before !== null && before !== id) call.out(`Updated tag '${name}' (was ${repo.shorten(before)})\n`)
}

function listTags(call: Call, options: Options): void {
  const { repo } = call
  const matchers = options.operands.map((pattern) => new RegExp(`^${globSource(pattern, true)}$`))
  const commitOf = (name: string) => parseCommit(repo, options.value(name) || 'HEAD')
  const [contained, merged] = [
    options.has('contains') ? commitOf('contains') : null,
    options.has('merged') ? commitOf('merged') : null,
  ]
  const pointed = options.has('points-at') ? parseRevision(repo, options.value('points-at') as string) : null
  const rows = repo.refs.list(TAGS).filter(({ name, id }) => {
    const commit = peel(repo, id, 'commit')
    return (
      (matchers.length === 0 || matchers.some((each) => each.test(name.slice(TAGS.length)))) &&
      (contained === null || (commit !== null && isAncestor(repo, contained, commit))) &&
      (merged === null || (commit !== null && isAncestor(repo, commit, merged))) &&
      (pointed === null || id === pointed || commit === pointed)
    )
  })
  sortRefs(repo, rows, options.values('sort'))
  const format = options.value('format')
  const lines = options.has('n') ? Number(options.value('n') || 1) : 0
  for (const { name, id } of rows) {
    const label = name.slice(TAGS.length)
    if (format !== undefined) call.out(`${formatRef(repo, name, id, format)}\n`)
    else if (lines === 0) call.out(`${label}\n`)
    else {
      const { type } = repo.objects.read(id)
      const message =
        type === 'tag' ? readTag(repo.objects, id).message : type === 'commit' ? repo.commit(id).message : ''
      const body = bodyOf(message)
      const shown = [subjectOf(message), ...(body === '' ? [] : ['', ...body.trimEnd().split('\n')])].slice(0, lines)
      call.out(`${label.padEnd(15)} ${shown.map((line, index) => (index === 0 ? line : `    ${line}`)).join('\n')}\n`)
    }
  }
}
