import type { ResolvedCommandContext } from 'just-bash'
import { command, humanSize, said } from './command-line.ts'

interface Listed {
  readonly name: string
  readonly path: string
  readonly isDirectory: boolean
  readonly isLink: boolean
  readonly mode: number
  readonly size: number
  readonly modified: Date
}

/** Lists files as the one of GNU does, without columns. */
export const ls = command(
  'ls',
  '1aAdFhilnpRrStU',
  async ({ operands, has }, context) => {
    const problems: string[] = []
    const found: Listed[] = []
    for (const operand of operands.length > 0 ? operands : ['.']) {
      try {
        found.push(
          await readStat(operand, context.fs.resolvePath(context.cwd, operand), context, !has('l') && !has('d')),
        )
      } catch {
        problems.push(`ls: cannot access '${operand}': No such file or directory\n`)
      }
    }
    const order = (list: Listed[]) => {
      list.sort(
        (a, b) =>
          (has('S') && b.size - a.size) ||
          (has('t') && b.modified.getTime() - a.modified.getTime()) ||
          (a.name < b.name ? -1 : 1),
      )
      return has('r') ? list.reverse() : list
    }
    const [files, directories] = [
      found.filter(({ isDirectory }) => !isDirectory || has('d')),
      has('d') ? [] : found.filter(({ isDirectory }) => isDirectory),
    ]
    const blocks: string[] = []
    if (files.length > 0) blocks.push(rendered(order(files)))
    const titled = operands.length > 1 || has('R')
    for (const directory of order(directories)) blocks.push(...(await within(directory.name, directory.path)))
    return said(blocks.join('\n'), problems.length > 0 ? 2 : 0, problems.join(''))

    async function within(name: string, path: string): Promise<string[]> {
      const all = await context.fs.readdir(path)
      const names = has('a') || has('A') ? all : all.filter((each) => !each.startsWith('.'))
      const inside = await Promise.all(
        names.map((each) => readStat(each, context.fs.resolvePath(path, each), context, false)),
      )
      const special = has('a')
        ? await Promise.all(
            ['.', '..'].map((each) => readStat(each, context.fs.resolvePath(path, each), context, false)),
          )
        : []
      const sorted = order([...special, ...inside])
      const total = has('l') ? `total ${sorted.reduce((sum, { size }) => sum + Math.ceil(size / 4_096) * 4, 0)}\n` : ''
      const block = `${titled ? `${name}:\n` : ''}${total}${rendered(sorted)}`
      if (!has('R')) return [block]
      const deeper = order(inside.filter(({ isDirectory, isLink }) => isDirectory && !isLink))
      const blocks = [block]
      for (const each of deeper) blocks.push(...(await within(`${name.replace(/\/$/, '')}/${each.name}`, each.path)))
      return blocks
    }

    function rendered(list: readonly Listed[]): string {
      const marked = list.map((each) => {
        const isProgram = (each.mode & 0o111) !== 0
        const mark =
          each.isDirectory && (has('p') || has('F'))
            ? '/'
            : has('F') && each.isLink
              ? '@'
              : has('F') && isProgram
                ? '*'
                : ''
        return `${each.name.replace(/\/$/, '/')}${mark && !each.name.endsWith('/') ? mark : ''}`
      })
      if (!has('l') && !has('n')) return marked.map((name) => `${name}\n`).join('')
      const sizes = list.map(({ size }) => (has('h') ? humanSize(size) : String(size)))
      const width = Math.max(0, ...sizes.map(({ length }) => length))
      const owner = has('n') ? '0 0' : 'root root'
      return list
        .map(
          (each, index) =>
            `${permissions(each)} 1 ${owner} ${sizes[index]?.padStart(width)} ${dateOf(each.modified)} ${marked[index]}\n`,
        )
        .join('')
    }
  },
  { all: 'a', 'almost-all': 'A', directory: 'd', recursive: 'R', reverse: 'r', 'human-readable': 'h', color: 'U' },
)

async function readStat(name: string, path: string, { fs }: ResolvedCommandContext, follow: boolean): Promise<Listed> {
  const link = await fs.lstat(path)
  const stat = follow && link.isSymbolicLink ? await fs.stat(path).catch(() => link) : link
  const { isDirectory, isSymbolicLink: isLink, mode, size, mtime } = stat
  return { name, path, isDirectory, isLink, mode, size: isDirectory ? 4_096 : size, modified: mtime }
}

function permissions({ isDirectory, isLink, mode }: Listed): string {
  const bits = [...'rwxrwxrwx'].map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : '-')).join('')
  return `${isLink ? 'l' : isDirectory ? 'd' : '-'}${bits}`
}

function dateOf(date: Date): string {
  const parts = date.toUTCString().split(' ')
  return `${parts[2]} ${String(Number(parts[1])).padStart(2)} ${parts[4]?.slice(0, 5)}`
}
