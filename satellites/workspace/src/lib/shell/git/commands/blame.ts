import { fromByteString, splitLines } from '../bytes.ts'
import type { Call } from '../call.ts'
import { fatal } from '../git-error.ts'
import { findAt, findCommit } from '../history/revisions.ts'
import { treeChanges } from '../history/tree-changes.ts'
import { parseOptions } from '../options.ts'
import type { Repository } from '../repository.ts'
import type { Commit, Signature } from '../store/commit.ts'
import { formatDate } from '../store/dates.ts'
import { NO_ID } from '../store/refs.ts'
import { diffLines } from '../text/diff-lines.ts'
import { workingSide } from '../worktree/working-files.ts'

/** Where a line comes from. */
interface Origin {
  /** `null` for a line that is not committed. */
  readonly commit: Commit | null
  readonly path: string
  /** The line there, from 0. */
  readonly line: number
}

const NOT_YET: Omit<Signature, 'time'> = { name: 'Not Committed Yet', email: 'not.committed.yet', zone: '+0000' }

export function blame(call: Call): void {
  const options = parseOptions(
    call.args,
    'L= l s e|show-email p|porcelain line-porcelain w M=? C=? f|show-name n|show-number t date= abbrev= root',
  )
  const { repo } = call
  const { operands, paths } = options
  const given = paths?.[0] ?? operands.at(-1)
  const revision = paths?.[0] === undefined ? (operands.length > 1 ? operands[0] : undefined) : operands[0]
  if (given === undefined) throw fatal('usage: git blame [<options>] [<rev>] [--] <file>')
  const path = repo.pathOf(given)
  const start = findCommit(repo, revision ?? 'HEAD')
  if (start === null) throw fatal(`no such ref: ${revision ?? 'HEAD'}`)
  const blob = findAt(repo, repo.commit(start).tree, path)
  const working = revision === undefined ? workingSide(repo, path) : null
  if (blob === null || (revision === undefined && !working))
    throw fatal(`no such path '${path}' in ${revision ?? 'HEAD'}`)
  const lines = splitLines(working?.read() ?? repo.objects.blob(blob))
  const origins: (Origin | null)[] = lines.map((_, line) => ({ commit: null, path, line }))
  const all = lines.map((_, at) => [at, at] as const)
  const left = working ? carryBack(lines, splitLines(repo.objects.blob(blob)), all) : all
  findOrigins(repo, repo.commit(start), path, left, origins)
  const [from, to] = rangeOf(options.value('L'), lines)
  if (options.has('porcelain') || options.has('line-porcelain')) throw fatal('blame --porcelain is not available here')
  printLines(call, lines, origins as Origin[], { path, from, to, options })
}

/** A line of the file that is blamed, and the line that it was in a commit. */
type Wanted = readonly [line: number, there: number]

/** Returns the lines that a former content has too, by their places in it. */
function carryBack(current: readonly string[], former: readonly string[], wanted: readonly Wanted[]): Wanted[] {
  const changes = diffLines(former, current)
  return wanted.flatMap(([line, there]): Wanted[] => {
    let shift = 0
    for (const { oldEnd, newStart, newEnd } of changes) {
      if (there < newStart) break
      if (there < newEnd) return []
      shift = oldEnd - newEnd
    }
    return [[line, there + shift]]
  })
}

function findOrigins(
  repo: Repository,
  start: Commit,
  path: string,
  wanted: readonly Wanted[],
  origins: (Origin | null)[],
): void {
  const queue: { commit: Commit; path: string; wanted: readonly Wanted[] }[] = [{ commit: start, path, wanted }]
  for (let next = queue.shift(); next; next = queue.shift()) {
    const { commit, path: here } = next
    let left = next.wanted
    const lines = splitLines(repo.objects.blob(findAt(repo, commit.tree, here) as string))
    for (const parent of commit.parents) {
      if (left.length === 0) break
      const before = repo.commit(parent)
      const there = findAt(repo, before.tree, here) === null ? renamedFrom(repo, before.tree, commit.tree, here) : here
      if (there === null) continue
      const former = splitLines(repo.objects.blob(findAt(repo, before.tree, there) as string))
      const kept = carryBack(lines, former, left)
      if (kept.length > 0) queue.push({ commit: before, path: there, wanted: kept })
      const gone = new Set(kept.map(([line]) => line))
      left = left.filter(([line]) => !gone.has(line))
    }
    for (const [line, at] of left) origins[line] = { commit, path: here, line: at }
  }
}

function renamedFrom(repo: Repository, before: string, after: string, path: string): string | null {
  const change = treeChanges(repo, before, after).find((each) => each.after?.path === path)
  return change?.kind === 'R' ? (change.before?.path ?? null) : null
}

function rangeOf(text: string | undefined, lines: readonly string[]): [number, number] {
  if (text === undefined) return [0, lines.length]
  const [first = '', last] = text.split(',')
  const find = (part: string, start: number) =>
    part.startsWith('/')
      ? lines.findIndex((line, at) => at >= start && new RegExp(part.slice(1, -1)).test(line)) + 1
      : Number(part)
  const from = first === '' ? 1 : find(first, 0)
  const to =
    last === undefined || last === ''
      ? lines.length
      : last.startsWith('+')
        ? from + Number(last.slice(1)) - 1
        : find(last, from)
  if (!(from >= 1 && from <= lines.length))
    throw fatal(`file has only ${lines.length} line${lines.length === 1 ? '' : 's'}`)
  return [from - 1, Math.min(lines.length, Math.max(to, from))]
}

interface Printing {
  readonly path: string
  readonly from: number
  readonly to: number
  readonly options: ReturnType<typeof parseOptions>
}

function printLines(
  call: Call,
  lines: readonly string[],
  origins: readonly Origin[],
  { path, from, to, options }: Printing,
): void {
  const { repo } = call
  const shown = origins.slice(from, to)
  const who = ({ commit }: Origin) => commit?.author ?? { ...NOT_YET, time: repo.around.now }
  const name = (origin: Origin) => (options.has('show-email') ? `<${who(origin).email}>` : who(origin).name)
  const widthOf = (text: string) => fromByteString(text).length
  const nameWidth = Math.max(0, ...shown.map((origin) => widthOf(name(origin))))
  const pathWidth = Math.max(0, ...shown.map((origin) => origin.path.length))
  const showsPath = options.has('show-name') || shown.some((origin) => origin.path !== path)
  const numberWidth = String(to).length
  const originWidth = String(Math.max(0, ...shown.map(({ line }) => line + 1))).length
  for (const [index, origin] of shown.entries()) {
    const { commit } = origin
    const length = options.has('l') ? 40 : 8
    const isRoot = commit?.parents.length === 0 && !options.has('root')
    const id = commit?.id ?? NO_ID
    const head = [isRoot ? `^${id.slice(0, length - 1)}` : id.slice(0, length)]
    if (showsPath) head.push(origin.path.padEnd(pathWidth))
    if (options.has('show-number')) head.push(String(origin.line + 1).padStart(originWidth))
    const number = String(from + index + 1).padStart(numberWidth)
    const date = formatDate(who(origin), options.value('date') ?? 'iso', repo.around.now) ?? ''
    const label = `${name(origin)}${' '.repeat(nameWidth - widthOf(name(origin)))}`
    const about = options.has('s') ? `${number})` : `(${label} ${date} ${number})`
    const line = lines[from + index] as string
    call.out(`${[...head, about].join(' ')} ${line.endsWith('\n') ? line : `${line}\n`}`)
  }
}
