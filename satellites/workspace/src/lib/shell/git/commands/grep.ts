import { isBinary, quotedPath, toPattern } from '../bytes.ts'
import type { Call } from '../call.ts'
import { fatal } from '../git-error.ts'
import { findRevision, peel } from '../history/revisions.ts'
import { type Options, parseOptions } from '../options.ts'
import { filesOf } from '../store/tree.ts'
import { workingSide } from '../worktree/working-files.ts'
import { basic } from './log.ts'

export function grep(call: Call): number {
  const options = parseOptions(
    call.args,
    'n|line-number i|ignore-case l|name-only|files-with-matches L|files-without-match c|count w|word-regexp v|invert-match e= E|extended-regexp G|basic-regexp F|fixed-strings P|perl-regexp h H q|quiet cached untracked A|after-context= B|before-context= C|context= o|only-matching heading break full-name I a|text r p|show-function W max-depth= no-color color=? and or not',
  )
  const { repo } = call
  const patterns = options.values('e')
  const [first, ...rest] = options.operands
  if (patterns.length === 0 && first === undefined) throw fatal('no pattern given')
  const expression = expressionOf(patterns.length > 0 ? patterns : [first as string], options)
  const operands = patterns.length > 0 ? options.operands : rest
  const revisions: string[] = []
  const given = [...operands]
  while (
    given.length > 0 &&
    (options.paths !== null || !repo.tree.at(repo.pathOf(given[0] as string))) &&
    findRevision(repo, given[0] as string) !== null
  )
    revisions.push(given.shift() as string)
  const chosen = [...given, ...(options.paths ?? [])]
  const filter = repo.filterOf(chosen.length > 0 ? chosen : repo.prefix === '' ? [] : ['.'])
  let found = false
  const search = (name: string, content: string) => {
    const text = matchesOf(name, content, expression, options)
    if (text === null) return
    found = true
    if (!options.has('quiet')) call.out(text)
  }
  const said = (path: string) => quotedPath(options.has('full-name') ? path : repo.relative(path))
  if (revisions.length > 0)
    for (const revision of revisions) {
      const tree = peel(repo, findRevision(repo, revision) as string, 'tree')
      for (const [path, { id }] of filesOf(repo.objects, tree))
        if (filter.matches(path)) search(`${revision}:${said(path)}`, repo.objects.blob(id))
    }
  else
    for (const path of new Set(repo.index.entries.map((entry) => entry.path))) {
      if (!filter.matches(path)) continue
      const entry = repo.index.get(path)
      const content = options.has('cached')
        ? entry
          ? repo.objects.blob(entry.id)
          : null
        : (workingSide(repo, path)?.read() ?? null)
      if (content !== null) search(said(path), content)
    }
  return found ? 0 : 1
}

function expressionOf(patterns: readonly string[], options: Options): RegExp {
  const isExtended = options.has('extended-regexp') || options.has('perl-regexp')
  const source = patterns
    .map((pattern) => {
      if (options.has('fixed-strings')) return toPattern(pattern)
      return isExtended ? pattern : basic(pattern, options)
    })
    .map((pattern) => (options.has('word-regexp') ? `\\b(?:${pattern})\\b` : pattern))
    .join('|')
  try {
    return new RegExp(
      source.replace(/\[\[:(\w+):\]\]/g, (_, name) => CLASSES[name] ?? ''),
      options.has('ignore-case') ? 'i' : '',
    )
  } catch {
    throw fatal(`command line, '${patterns[0]}': Invalid regular expression`)
  }
}

const CLASSES: Readonly<Record<string, string>> = {
  alpha: '[A-Za-z]',
  digit: '[0-9]',
  alnum: '[A-Za-z0-9]',
  space: '\\s',
  upper: '[A-Z]',
  lower: '[a-z]',
  punct: '[!-/:-@[-`{-~]',
}

/** Returns what is printed of a file; `null` if nothing in it matches. */
function matchesOf(name: string, content: string, expression: RegExp, options: Options): string | null {
  const binary = isBinary(content)
  const lines = content.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const hits = lines.flatMap((line, at) => (expression.test(line) !== options.has('invert-match') ? [at] : []))
  if (options.has('files-without-match')) return hits.length === 0 ? `${name}\n` : null
  if (hits.length === 0) return null
  if (options.has('files-with-matches')) return `${name}\n`
  const prefix = options.has('h') ? '' : name
  if (options.has('count')) return `${prefix === '' ? '' : `${prefix}:`}${hits.length}\n`
  if (binary) return `Binary file ${name} matches\n`
  const around = Number(options.value('context') ?? 0)
  const [before, after] = [
    Number(options.value('before-context') ?? around),
    Number(options.value('after-context') ?? around),
  ]
  const shown = new Set(hits)
  const printed = new Set<number>()
  for (const hit of hits)
    for (let at = Math.max(0, hit - before); at <= Math.min(lines.length - 1, hit + after); at++) printed.add(at)
  let [text, last] = ['', -1]
  for (const at of [...printed].sort((one, other) => one - other)) {
    const mark = shown.has(at) ? ':' : '-'
    if (before + after > 0 && last >= 0 && at > last + 1) text += '--\n'
    const head = `${prefix === '' ? '' : prefix + mark}${options.has('line-number') ? `${at + 1}${mark}` : ''}`
    if (options.has('only-matching'))
      for (const [match] of (lines[at] as string).matchAll(new RegExp(expression.source, `${expression.flags}g`)))
        text += `${head}${match}\n`
    else text += `${head}${lines[at]}\n`
    last = at
  }
  return text
}
