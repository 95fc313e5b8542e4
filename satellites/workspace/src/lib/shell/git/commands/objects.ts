import { toBytes } from '../../../disk/file-content.ts'
import { fromByteString, quotedPath, toByteString } from '../bytes.ts'
import type { Call } from '../call.ts'
import { fatal, GitError } from '../git-error.ts'
import {
  findCommit,
  findRef,
  findRevision,
  nthBranch,
  parseCommit,
  parseRevision,
  peel,
  unknownRevision,
} from '../history/revisions.ts'
import { isAncestor, mergeBases } from '../history/walk.ts'
import { parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import type { ObjectType } from '../store/object.ts'
import { idOf } from '../store/objects.ts'
import { readTree, writeTree } from '../store/tree.ts'
import { mergeTexts } from '../text/merge-texts.ts'
import { stagedFiles } from '../worktree/working-files.ts'
import { messageOfParts } from './commit.ts'
import { itemLine } from './listings.ts'

export function revParse(call: Call): number {
  const { args } = call
  const has = (name: string) => args.includes(name)
  const quiet = has('-q') || has('--quiet')
  const short = args.find((arg) => /^--short(=\d+)?$/.test(arg))
  for (const arg of args) {
    if (/^(--short(=\d+)?|--verify|-q|--quiet|--abbrev-ref(=\w+)?|--symbolic-full-name|--)$/.test(arg)) continue
    const known = KNOWN_PATHS[arg]
    if (known) {
      call.out(`${known(call.repo)}\n`)
      continue
    }
    if (arg === '--all' || arg === '--branches' || arg === '--tags') {
      const prefix = arg === '--all' ? 'refs/' : arg === '--branches' ? 'refs/heads/' : 'refs/tags/'
      for (const { id } of call.repo.refs.list(prefix)) call.out(`${id}\n`)
      continue
    }
    if (arg.startsWith('--')) {
      call.out(`${arg}\n`)
      continue
    }
    const { repo } = call
    const name = symbolicName(repo, arg)
    if (has('--abbrev-ref') && name !== null) call.out(`${name.replace(/^refs\/(heads|tags|remotes)\//, '')}\n`)
    else if (has('--symbolic-full-name') && name !== null) call.out(`${name}\n`)
    else
      for (const line of idsOf(call, arg, has('--verify'), quiet))
        call.out(`${short && !line.startsWith('^') ? repo.objects.shorten(line, Number(short.slice(8)) || 7) : line}\n`)
  }
  if (has('--verify') && !args.some((arg) => !arg.startsWith('-'))) throw fatal('Needed a single revision')
  return 0
}

const KNOWN_PATHS: Readonly<Record<string, (repo: Repository) => string>> = {
  '--show-toplevel': (repo) => toByteString(repo.tree.path),
  '--git-dir': (repo) => (repo.prefix === '' ? '.git' : toByteString(repo.folder.path)),
  '--absolute-git-dir': (repo) => toByteString(repo.folder.path),
  '--git-common-dir': (repo) =>
    repo.prefix === '' ? '.git' : `${'../'.repeat(repo.prefix.split('/').length - 1)}.git`,
  '--is-inside-work-tree': () => 'true',
  '--is-inside-git-dir': () => 'false',
  '--is-bare-repository': () => 'false',
  '--is-shallow-repository': () => 'false',
  '--show-prefix': (repo) => repo.prefix,
  '--show-cdup': (repo) => '../'.repeat(repo.prefix.split('/').length - 1),
}

function symbolicName(repo: Repository, text: string): string | null {
  if (text === 'HEAD' || text === '@') return repo.refs.head ?? 'HEAD'
  const number = /^@\{-(\d+)\}$/.exec(text)?.[1]
  const name = number === undefined ? text : (nthBranch(repo, Number(number)) ?? text)
  return findRef(repo, name)
}

function idsOf(call: Call, text: string, verifies: boolean, quiet: boolean): string[] {
  const { repo } = call
  const [, left = '', dots, right = ''] = /^(.*?)(\.{2,3})(.*)$/.exec(text) ?? []
  if (dots !== undefined) {
    const [one, other] = [parseCommit(repo, left || 'HEAD'), parseCommit(repo, right || 'HEAD')]
    return dots === '..' ? [other, `^${one}`] : [one, other, ...mergeBases(repo, one, other).map((id) => `^${id}`)]
  }
  if (text.startsWith('^')) return [`^${parseRevision(repo, text.slice(1))}`]
  const id = findRevision(repo, text)
  if (id !== null) return [id]
  if (verifies) throw new GitError(quiet ? '' : 'fatal: Needed a single revision', quiet ? 1 : 128)
  if (repo.tree.at(repo.pathOf(text))) return [text]
  call.out(`${text}\n`)
  throw unknownRevision(text)
}

export function catFile(call: Call): number {
  const options = parseOptions(call.args, 'p t s e batch batch-check')
  const { repo } = call
  const [first = '', second] = options.operands
  if (options.has('batch') || options.has('batch-check')) {
    for (const line of call.stdin.split('\n').filter(Boolean)) {
      const id = findRevision(repo, line)
      const found = id === null ? null : repo.objects.find(id)
      if (!found) call.out(`${line} missing\n`)
      else call.out(`${id} ${found.type} ${found.data.length}\n${options.has('batch') ? `${found.data}\n` : ''}`)
    }
    return 0
  }
  const name = second ?? first
  const id = findRevision(repo, name)
  if (id === null || !repo.objects.has(id)) {
    if (options.has('e') && id !== null) return 1
    throw fatal(`Not a valid object name ${name}`)
  }
  const { type, data } = repo.objects.read(id)
  if (second !== undefined) {
    const peeled = peel(repo, id, first)
    if (peeled === null) throw fatal(`git cat-file ${name}: bad file`)
    call.out(repo.objects.read(peeled).data)
  } else if (options.has('t')) call.out(`${type}\n`)
  else if (options.has('s')) call.out(`${data.length}\n`)
  else if (options.has('p')) call.out(type === 'tree' ? treeLines(repo, id) : data)
  return 0
}

function treeLines(repo: Repository, id: string): string {
  return [...readTree(repo.objects, id)].map(([name, item]) => `${itemLine(item)}\t${quotedPath(name)}\n`).join('')
}

export function hashObject(call: Call): void {
  const options = parseOptions(call.args, 'w t= stdin stdin-paths path= no-filters')
  const type = (options.value('t') ?? 'blob') as ObjectType
  const contents = options.has('stdin') ? [call.stdin] : []
  for (const path of [...options.operands, ...(options.paths ?? [])]) {
    const content = readAnywhere(call, path)
    if (content === null) throw fatal(`could not open '${path}' for reading: No such file or directory`)
    contents.push(content)
  }
  for (const content of contents)
    call.out(`${options.has('w') ? call.repo.objects.write(type, content) : idOf(type, content)}\n`)
}

function readAnywhere({ around }: Call, given: string): string | null {
  try {
    const { disk, cwd } = around
    const path = given.startsWith('/') ? given : `${cwd === '/' ? '' : cwd}/${given}`
    return Buffer.from(toBytes(disk.read(fromByteString(path)))).toString('latin1')
  } catch {
    return null
  }
}

export function mergeBase(call: Call): number {
  const options = parseOptions(call.args, 'a|all is-ancestor fork-point octopus')
  const { repo } = call
  const [one, other] = options.operands.map((text) => {
    const id = findCommit(repo, text)
    if (id === null) throw fatal(`Not a valid object name ${text}`)
    return id
  })
  if (one === undefined || other === undefined)
    throw new GitError('usage: git merge-base [-a | --all] <commit> <commit>...', 129)
  if (options.has('is-ancestor')) return isAncestor(repo, one, other) ? 0 : 1
  const bases = mergeBases(repo, one, other)
  for (const id of options.has('all') ? bases : bases.slice(0, 1)) call.out(`${id}\n`)
  return bases.length > 0 ? 0 : 1
}

export function mergeFile(call: Call): number {
  const options = parseOptions(call.args, 'p|stdout q|quiet L= ours theirs')
  const [ours = '', base = '', theirs = ''] = options.operands
  const texts = [base, ours, theirs].map((path) => {
    const content = readAnywhere(call, path)
    if (content === null) throw new GitError(`error: Could not stat ${path}`, 255)
    return content
  })
  const names = options.values('L')
  const { text, isClean } = mergeTexts(texts[0] as string, texts[1] as string, texts[2] as string, [
    names[0] ?? ours,
    names[2] ?? theirs,
  ])
  if (options.has('stdout')) call.out(text)
  else call.around.disk.write(`${call.around.cwd}/${ours}`, Buffer.from(text, 'latin1'))
  return isClean ? 0 : text.split('\n').filter((line) => line.startsWith('<<<<<<< ')).length
}

export function makeTree(call: Call): void {
  call.out(`${writeTree(call.repo.objects, stagedFiles(call.repo))}\n`)
}

export function makeCommit(call: Call): void {
  const options = parseOptions(call.args, 'p= m= F=')
  const { repo } = call
  const [tree = ''] = options.operands
  const { id } = repo.makeCommit({
    tree: peel(repo, parseRevision(repo, tree), 'tree') ?? '',
    parents: options.values('p').map((parent) => parseCommit(repo, parent)),
    message: options.has('m') ? messageOfParts(options.values('m')) : call.stdin,
  })
  call.out(`${id}\n`)
}

export function updateRef(call: Call): void {
  const options = parseOptions(call.args, 'd m= no-deref stdin')
  const { repo } = call
  const [name = '', value = ''] = options.operands
  if (options.has('d')) repo.refs.remove(name)
  else repo.refs.set(name, parseRevision(repo, value), options.value('m') ?? '')
}

export function symbolicRef(call: Call): number {
  const options = parseOptions(call.args, 'short q|quiet d|delete m=')
  const { repo } = call
  const [name = 'HEAD', target] = options.operands
  if (target !== undefined) {
    if (name === 'HEAD') repo.refs.moveHead({ branch: target }, options.value('m') ?? '')
    else repo.folder.write(name, `ref: ${target}\n`)
    return 0
  }
  const found = repo.refs.target(name)
  if (found === null)
    throw new GitError(
      options.has('quiet') ? '' : `fatal: ref ${name} is not a symbolic ref`,
      options.has('quiet') ? 1 : 128,
    )
  call.out(`${options.has('short') ? found.replace(/^refs\/(heads|tags)\//, '') : found}\n`)
  return 0
}

export function checkIgnore(call: Call): number {
  const options = parseOptions(call.args, 'v|verbose q|quiet n|non-matching stdin no-index')
  const { repo } = call
  const rules = repo.ignoredFiles()
  let found = 0
  const given = options.has('stdin')
    ? call.stdin.split('\n').filter(Boolean)
    : [...options.operands, ...(options.paths ?? [])]
  for (const each of given) {
    const path = repo.pathOf(each)
    const isDirectory = repo.tree.at(path)?.kind === 'directory' || each.endsWith('/')
    if (repo.index.get(path) || !rules.has(path, isDirectory)) continue
    found += 1
    if (options.has('quiet')) continue
    let [at, folder] = [path, isDirectory]
    let rule = rules.rule(at, folder)
    while (!rule && at.includes('/')) {
      at = at.slice(0, at.lastIndexOf('/'))
      folder = true
      rule = rules.rule(at, folder)
    }
    call.out(options.has('verbose') ? `${rule?.place}\t${quotedPath(each)}\n` : `${quotedPath(each)}\n`)
  }
  return found > 0 ? 0 : 1
}
