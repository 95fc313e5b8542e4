import { structuredPatch } from 'diff'
import { command, failed, linesOf, readInput, said } from './command-line.ts'

export const uniq = command(
  'uniq',
  'cdDuif:s:w:',
  async ({ operands, has, value }, context) => {
    const [from = '-', to] = operands
    const fields = Number(value('f') ?? 0)
    const keyOf = (line: string) => {
      const rest = line.replace(new RegExp(`^(?:\\s*\\S+){0,${fields}}`), fields > 0 ? '' : '$&')
      const key = rest.slice(Number(value('s') ?? 0)).slice(0, Number(value('w') ?? rest.length))
      return has('i') ? key.toLowerCase() : key
    }
    let text: string
    try {
      text = await readInput(from, context)
    } catch {
      return failed(`uniq: ${from}: No such file or directory`)
    }
    const groups: { key: string; lines: string[] }[] = []
    for (const line of linesOf(text)) {
      const key = keyOf(line)
      if (groups.at(-1)?.key === key) groups.at(-1)?.lines.push(line)
      else groups.push({ key, lines: [line] })
    }
    const kept = groups.filter(({ lines }) =>
      has('u') ? lines.length === 1 : !(has('d') || has('D')) || lines.length > 1,
    )
    const printed = kept
      .flatMap(({ lines }) =>
        has('D') ? lines : [`${has('c') ? `${String(lines.length).padStart(7)} ` : ''}${lines[0]}`],
      )
      .map((line) => `${line}\n`)
      .join('')
    if (to === undefined) return said(printed)
    await context.fs.writeFile(context.fs.resolvePath(context.cwd, to), printed)
    return said('')
  },
  { count: 'c', repeated: 'd', unique: 'u', 'ignore-case': 'i' },
)

/** Arguments of a command that `xargs` runs, at most. */
const MOST_ARGUMENTS = 5_000

export const xargs = command(
  'xargs',
  '0rtn:I:L:d:P:a:',
  async ({ operands, has, value }, context) => {
    const { exec, cwd } = context
    if (!exec) return failed('xargs: cannot run here')
    const input = await readInput(value('a') ?? '-', context)
    const marker = value('I')
    const delimiter = has('0') ? '\0' : value('d')?.replace(/^\\n$/, '\n').replace(/^\\t$/, '\t')
    const items =
      delimiter !== undefined
        ? input.split(delimiter).filter((item, index, all) => item !== '' || index < all.length - 1)
        : marker !== undefined || value('L') !== undefined
          ? linesOf(input)
              .map((line) => line.trim())
              .filter(Boolean)
          : wordsOf(input)
    const [program = 'echo', ...fixed] = operands
    const size = Number(marker !== undefined ? 1 : (value('n') ?? value('L') ?? MOST_ARGUMENTS))
    if (!(size >= 1)) return failed('xargs: value for -n option should be >= 1')
    if (items.length === 0 && (has('r') || marker !== undefined)) return said('')
    const calls: string[][] = []
    for (let start = 0; start < Math.max(1, items.length); start += size) {
      const some = items.slice(start, start + size)
      const given = value('L') !== undefined ? some.flatMap(wordsOf) : some
      calls.push(
        marker === undefined
          ? [...fixed, ...given]
          : fixed.map((arg) => arg.replaceAll(marker, () => given[0] as string)),
      )
    }
    let [stdout, stderr, exitCode] = ['', '', 0]
    for (const args of calls) {
      if (has('t')) stderr += `${[program, ...args].join(' ')}\n`
      const done = await exec(program, { args, cwd })
      stdout += done.stdout
      stderr += done.stderr
      if (done.exitCode === 126 || done.exitCode === 127) return said(stdout, done.exitCode, stderr)
      if (done.exitCode !== 0) exitCode = 123
    }
    return said(stdout, exitCode, stderr)
  },
  { null: '0', 'no-run-if-empty': 'r', 'max-args': 'n', verbose: 't', 'max-procs': 'P' },
  { leading: true },
)

/** Returns the words of an input of `xargs`, which may be quoted. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/(?:"[^"\n]*"|'[^'\n]*'|\\.|[^\s"'\\])+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'|\\(.)/g, (_, double, single, escaped) => double ?? single ?? escaped),
  )
}

export const diff = command(
  'diff',
  'uqriwbBNU:',
  async ({ operands, has, value }, context) => {
    const [from, to] = operands
    if (from === undefined || to === undefined) return failed(`diff: missing operand after '${from ?? 'diff'}'`, 2)
    const { fs, cwd } = context
    const isDirectory = async (path: string) =>
      path !== '-' &&
      (await fs.stat(fs.resolvePath(cwd, path)).then(
        (stat) => stat.isDirectory,
        () => false,
      ))
    if ((await isDirectory(from)) && (await isDirectory(to))) return compareDirectories(from, to)
    return compareFiles(from, (await isDirectory(to)) ? `${to}/${from.split('/').at(-1)}` : to, '')

    async function compareDirectories(left: string, right: string): Promise<ReturnType<typeof said>> {
      const list = (path: string) => fs.readdir(fs.resolvePath(cwd, path))
      const [here, there] = [await list(left), await list(right)]
      let [stdout, exitCode] = ['', 0]
      for (const name of [...new Set([...here, ...there])].sort()) {
        const [one, other] = [`${left}/${name}`, `${right}/${name}`]
        if (!here.includes(name) || !there.includes(name)) {
          stdout += `Only in ${here.includes(name) ? left : right}: ${name}\n`
          exitCode = 1
          continue
        }
        const both = (await isDirectory(one)) && (await isDirectory(other))
        if (both && !has('r')) {
          stdout += `Common subdirectories: ${one} and ${other}\n`
          continue
        }
        const flags = [has('u') && '-u', has('r') && '-r'].filter(Boolean).join(' ')
        const found = both
          ? await compareDirectories(one, other)
          : await compareFiles(one, other, `diff ${flags ? `${flags} ` : ''}${one} ${other}\n`)
        stdout += found.stdout
        exitCode = Math.max(exitCode, found.exitCode)
      }
      return said(stdout, exitCode)
    }

    async function compareFiles(left: string, right: string, title: string) {
      const texts: string[] = []
      for (const path of [left, right])
        try {
          texts.push(await readInput(path, context))
        } catch {
          return failed(`diff: ${path}: No such file or directory`, 2)
        }
      const [one = '', other = ''] = texts.map(normalized)
      if (one === other) return said('')
      if (has('q')) return said(`Files ${left} and ${right} differ\n`, 1)
      const around = has('u') || value('U') !== undefined ? Number(value('U') ?? 3) : 0
      const { hunks } = structuredPatch(left, right, one, other, undefined, undefined, { context: around })
      const isUnified = has('u') || value('U') !== undefined
      const head = isUnified ? `--- ${left}\n+++ ${right}\n` : ''
      return said(title + head + hunks.map((hunk) => (isUnified ? unified(hunk) : normal(hunk))).join(''), 1)
    }

    function normalized(text: string): string {
      if (!has('i') && !has('w') && !has('b') && !has('B')) return text
      const lines = linesOf(text).map((line) => {
        const cased = has('i') ? line.toLowerCase() : line
        return has('w') ? cased.replace(/\s+/g, '') : has('b') ? cased.replace(/\s+/g, ' ').trimEnd() : cased
      })
      return `${(has('B') ? lines.filter((line) => line.trim() !== '') : lines).join('\n')}\n`
    }
  },
  { unified: 'u', brief: 'q', recursive: 'r', 'ignore-case': 'i', 'ignore-all-space': 'w' },
)

type Hunk = ReturnType<typeof structuredPatch>['hunks'][number]

function unified({ oldStart, oldLines, newStart, newLines, lines }: Hunk): string {
  const range = (start: number, count: number) =>
    count === 1 ? String(start) : `${count === 0 ? start - 1 : start},${count}`
  return `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@\n${lines.map((line) => `${line}\n`).join('')}`
}

function normal({ oldStart, oldLines, newStart, newLines, lines }: Hunk): string {
  const range = (start: number, count: number) => (count <= 1 ? String(start) : `${start},${start + count - 1}`)
  const [removed, added] = ['-', '+'].map((mark) =>
    lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(1)),
  )
  const kind = oldLines === 0 ? 'a' : newLines === 0 ? 'd' : 'c'
  const from = oldLines === 0 ? String(oldStart - 1) : range(oldStart, oldLines)
  const to = newLines === 0 ? String(newStart - 1) : range(newStart, newLines)
  const between = kind === 'c' ? '---\n' : ''
  return `${from}${kind}${to}\n${removed?.map((line) => `< ${line}\n`).join('')}${between}${added?.map((line) => `> ${line}\n`).join('')}`
}
