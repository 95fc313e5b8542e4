import type { ResolvedCommandContext } from 'just-bash'
import { command, failed, MOST_BYTES, said, sizeOf, stdinBytes } from './command-line.ts'

async function readBytes(paths: readonly string[], context: ResolvedCommandContext): Promise<Uint8Array> {
  const parts = paths.length > 0 ? paths : ['-']
  const read = (path: string) =>
    path === '-' ? stdinBytes(context) : context.fs.readFileBuffer(context.fs.resolvePath(context.cwd, path))
  return Buffer.concat(await Promise.all(parts.map(read)))
}

/** Characters of C for bytes that are not printed as they are. */
const NAMES: Readonly<Record<number, string>> = {
  0: '\\0',
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
}

/** How a value of so many bytes is printed, in so many characters. */
const FORMATS: Readonly<
  Record<string, { readonly size: number; readonly width: number; print(value: number): string }>
> = {
  c: {
    size: 1,
    width: 4,
    print: (byte) =>
      NAMES[byte] ?? (byte < 32 || byte > 126 ? byte.toString(8).padStart(3, '0') : String.fromCharCode(byte)),
  },
  x1: { size: 1, width: 3, print: (value) => value.toString(16).padStart(2, '0') },
  x2: { size: 2, width: 5, print: (value) => value.toString(16).padStart(4, '0') },
  o1: { size: 1, width: 4, print: (value) => value.toString(8).padStart(3, '0') },
  o2: { size: 2, width: 7, print: (value) => value.toString(8).padStart(6, '0') },
  d1: { size: 1, width: 5, print: (value) => String(value > 127 ? value - 256 : value) },
  u1: { size: 1, width: 4, print: (value) => String(value) },
}

export const od = command(
  'od',
  'bcdoxvA:t:N:j:w:',
  async ({ operands, has, value }, context) => {
    let bytes: Uint8Array
    try {
      bytes = await readBytes(operands, context)
    } catch {
      return failed(`od: ${operands[0]}: No such file or directory`)
    }
    const named = value('t')
    const key = named ?? (has('c') ? 'c' : has('b') ? 'o1' : has('x') ? 'x2' : 'o2')
    const format = FORMATS[/^[xodu]$/.test(key) ? `${key}2` : key]
    if (!format) return failed(`od: invalid type string '${key}'`)
    const start = Number(value('j') ?? 0)
    const shown = bytes.subarray(start, start + Number(value('N') ?? bytes.length))
    const base = value('A') ?? 'o'
    const address = (at: number) =>
      base === 'n' ? '' : at.toString(base === 'x' ? 16 : base === 'd' ? 10 : 8).padStart(base === 'x' ? 6 : 7, '0')
    const width = Number(value('w') ?? 16)
    const lines: string[] = []
    for (let at = 0; at < shown.length; at += width) {
      const row = shown.subarray(at, at + width)
      let text = ''
      for (let i = 0; i < row.length; i += format.size) {
        const number = format.size === 1 ? row[i] : (row[i] as number) | ((row[i + 1] ?? 0) << 8)
        text += format.print(number as number).padStart(format.width)
      }
      lines.push(`${address(start + at)}${text}\n`)
    }
    return said(lines.join('') + (base === 'n' ? '' : `${address(start + shown.length)}\n`))
  },
  { 'address-radix': 'A', format: 't', 'read-bytes': 'N', 'skip-bytes': 'j' },
)

export const xxd = command('xxd', 'prc:l:s:', async ({ operands, has, value }, context) => {
  const bytes = await readBytes(operands, context).catch(() => null)
  if (bytes === null) return failed(`xxd: ${operands[0]}: No such file or directory`, 2)
  if (has('r')) {
    const text = Buffer.from(bytes).toString('latin1')
    const digits = has('p') ? text : text.replace(/^[0-9a-f]+: ((?:[0-9a-f]+ )*) ?.*$/gm, '$1')
    return { ...said(Buffer.from(digits.replace(/[^0-9a-f]/gi, ''), 'hex').toString('latin1')), stdoutKind: 'bytes' }
  }
  const start = Number(value('s') ?? 0)
  const shown = Buffer.from(bytes.subarray(start, start + Number(value('l') ?? bytes.length)))
  if (has('p')) return said(shown.toString('hex').replace(/.{1,60}/g, '$&\n'))
  const width = Number(value('c') ?? 16)
  const lines: string[] = []
  for (let at = 0; at < shown.length; at += width) {
    const row = shown.subarray(at, at + width)
    const digits = row
      .toString('hex')
      .replace(/.{1,4}/g, '$& ')
      .trim()
    const text = row.toString('latin1').replace(/[^ -~]/g, '.')
    lines.push(
      `${(start + at).toString(16).padStart(8, '0')}: ${digits.padEnd(Math.ceil(width / 2) * 5 - 1)}  ${text}\n`,
    )
  }
  return said(lines.join(''))
})

export const head = command(
  'head',
  'n:c:qv',
  async ({ operands, has, value }, context) => {
    const [lines, bytes] = [value('n') ?? '10', value('c')]
    const count = bytes === undefined ? Number(lines) : sizeOf(bytes)
    if (!Number.isInteger(count))
      return failed(`head: invalid number of ${bytes === undefined ? 'lines' : 'bytes'}: '${bytes ?? lines}'`)
    const paths = operands.length > 0 ? operands : ['-']
    const titled = has('v') || (paths.length > 1 && !has('q'))
    let [stdout, stderr, first] = ['', '', true]
    for (const path of paths) {
      const read = await readBytes([path], context).catch(() => null)
      if (read === null) {
        stderr += `head: cannot open '${path}' for reading: No such file or directory\n`
        continue
      }
      if (titled) stdout += `${first ? '' : '\n'}==> ${path === '-' ? 'standard input' : path} <==\n`
      first = false
      const end = bytes === undefined ? endOfLine(read, count) : count < 0 ? read.length + count : count
      stdout += Buffer.from(read.subarray(0, Math.max(0, end))).toString('latin1')
    }
    return { stdout, stderr, exitCode: stderr ? 1 : 0, stdoutKind: 'bytes' }
  },
  { lines: 'n', bytes: 'c', quiet: 'q', verbose: 'v' },
)

/** Returns where the first `count` lines end; a negative count leaves out as many at the end. */
function endOfLine(bytes: Uint8Array, count: number): number {
  const ends: number[] = []
  for (let at = bytes.indexOf(10); at >= 0 && (count < 0 || ends.length < count); at = bytes.indexOf(10, at + 1))
    ends.push(at + 1)
  const isOpen = count < 0 && bytes.length > 0 && bytes.at(-1) !== 10
  if (count < 0) return ends[ends.length - 1 + count + (isOpen ? 1 : 0)] ?? 0
  return ends.length < count ? bytes.length : (ends.at(-1) ?? 0)
}

export const dd = command('dd', '', async ({ operands }, context) => {
  const given = Object.fromEntries(operands.map((operand) => operand.split(/=(.*)/s, 2) as [string, string]))
  const [block, skip] = [sizeOf(given.bs ?? '512'), Number(given.skip ?? 0)]
  const read = given.if === '/dev/zero' ? null : await readBytes([given.if ?? '-'], context).catch(() => undefined)
  if (read === undefined) return failed(`dd: failed to open '${given.if}': No such file or directory`)
  const most = given.count === undefined ? (read?.length ?? 0) : Number(given.count) * block
  if (!(most <= MOST_BYTES))
    return failed(`dd: error writing '${given.of ?? 'standard output'}': No space left on device`)
  const copied = read ? read.subarray(skip * block, skip * block + most) : new Uint8Array(most)
  const whole = Math.floor(copied.length / block)
  const records = `${whole}+${copied.length % block > 0 ? 1 : 0} records`
  const stderr = `${records} in\n${records} out\n${copied.length} bytes copied\n`
  if (given.of === undefined)
    return { stdout: Buffer.from(copied).toString('latin1'), stderr, exitCode: 0, stdoutKind: 'bytes' }
  await context.fs.writeFile(context.fs.resolvePath(context.cwd, given.of), copied)
  return said('', 0, stderr)
})
