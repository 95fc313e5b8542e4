import { posix } from 'node:path'
import { command, failed, MOST_BYTES, readInput, said, sizeOf } from './command-line.ts'

export const realpath = command(
  'realpath',
  'emsqR:',
  async ({ operands, value }, { fs, cwd }) => {
    const base = value('R')
    const paths: string[] = []
    for (const operand of operands) {
      const path = await fs.realpath(fs.resolvePath(cwd, operand)).catch(() => null)
      if (path === null) return failed(`realpath: ${operand}: No such file or directory`)
      paths.push(base === undefined ? path : posix.relative(await fs.realpath(fs.resolvePath(cwd, base)), path) || '.')
    }
    return said(paths.map((path) => `${path}\n`).join(''))
  },
  { 'relative-to': 'R' },
)

export const cmp = command('cmp', 's', async ({ operands: [from = '-', to = '-'], has }, context) => {
  const texts: Buffer[] = []
  for (const path of [from, to])
    try {
      texts.push(Buffer.from(await readInput(path, context)))
    } catch {
      return failed(`cmp: ${path}: No such file or directory`, 2)
    }
  const [one = Buffer.alloc(0), other = Buffer.alloc(0)] = texts
  if (one.equals(other)) return said('')
  if (has('s')) return said('', 1)
  const least = Math.min(one.length, other.length)
  let byte = 0
  while (byte < least && one[byte] === other[byte]) byte += 1
  const line = one.subarray(0, byte).toString('latin1').split('\n').length
  if (byte < least) return said(`${from} ${to} differ: byte ${byte + 1}, line ${line}\n`, 1)
  const shorter = one.length < other.length ? from : to
  return failed(`cmp: EOF on ${shorter} after byte ${byte}, line ${line - 1}`)
})

export const truncate = command('truncate', 'cs:', async ({ operands, has, value }, { fs, cwd }) => {
  const given = value('s') ?? ''
  const sign = /^[+-]/.exec(given)?.[0] ?? ''
  const size = sizeOf(given.slice(sign.length))
  if (!(size >= 0)) return failed(`truncate: Invalid number: '${given}'`)
  for (const operand of operands) {
    const path = fs.resolvePath(cwd, operand)
    const before = (await fs.exists(path)) ? await fs.readFileBuffer(path) : null
    if (before === null && has('c')) continue
    const length = sign === '' ? size : (before?.length ?? 0) + (sign === '+' ? size : -size)
    if (length > MOST_BYTES) return failed(`truncate: failed to truncate '${operand}': File too large`)
    const after = new Uint8Array(Math.max(0, length))
    after.set(before?.subarray(0, after.length) ?? [])
    await fs.writeFile(path, after)
  }
  return said('')
})

export const whoami = command('whoami', '', () => said('root\n'))
