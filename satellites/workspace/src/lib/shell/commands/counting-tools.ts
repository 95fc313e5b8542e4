import type { ResolvedCommandContext } from 'just-bash'
import { command, humanSize, linesOf, readInput, said } from './command-line.ts'

/** What `wc` counts, in the order in which it prints it. */
const COUNTS: Readonly<Record<string, (text: string) => number>> = {
  l: (text) => text.split('\n').length - 1,
  w: (text) => text.split(/\s+/).filter(Boolean).length,
  m: (text) => [...text].length,
  c: (text) => Buffer.byteLength(text),
  L: (text) => Math.max(0, ...linesOf(text).map(({ length }) => length)),
}

export const wc = command(
  'wc',
  'lwmcL',
  async ({ operands, has }, context) => {
    const asked = Object.keys(COUNTS).filter((letter) => has(letter))
    const letters = asked.length > 0 ? asked : ['l', 'w', 'c']
    const rows: { counts: number[]; name: string }[] = []
    let stderr = ''
    for (const path of operands.length > 0 ? operands : ['-']) {
      const text = await readInput(path, context).catch(() => null)
      if (text === null) stderr += `wc: ${path}: No such file or directory\n`
      else
        rows.push({
          counts: letters.map((letter) => COUNTS[letter]?.(text) ?? 0),
          name: operands.length > 0 ? ` ${path}` : '',
        })
    }
    if (operands.length > 1) {
      const totals = letters.map((_, index) => rows.reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0))
      rows.push({ counts: totals, name: ' total' })
    }
    const isOne = letters.length === 1 && operands.length <= 1
    // As GNU does: as wide as the bytes of all files, and 7 for what has no size before it is read.
    const widest = Math.max(0, ...rows.flatMap(({ counts }) => counts))
    const width = isOne
      ? 1
      : operands.length === 0
        ? 7
        : String(Math.max(widest, await sizeOfAll(operands, context))).length
    const lines = rows.map(
      ({ counts, name }) => `${counts.map((count) => String(count).padStart(width)).join(' ')}${name}\n`,
    )
    return said(lines.join(''), stderr ? 1 : 0, stderr)
  },
  { lines: 'l', words: 'w', chars: 'm', bytes: 'c', 'max-line-length': 'L' },
)

async function sizeOfAll(paths: readonly string[], { fs, cwd }: ResolvedCommandContext): Promise<number> {
  const sizes = await Promise.all(
    paths.map((path) =>
      fs.stat(fs.resolvePath(cwd, path)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

export const du = command(
  'du',
  'abchksd:',
  async ({ operands, has, value }, { fs, cwd }) => {
    const deepest = has('s') ? 0 : Number(value('d') ?? Number.POSITIVE_INFINITY)
    const lines: string[] = []
    let stderr = ''
    let total = 0
    for (const operand of operands.length > 0 ? operands : ['.']) {
      const path = fs.resolvePath(cwd, operand)
      if (await fs.exists(path)) total += await weigh(operand, path, 0)
      else stderr += `du: cannot access '${operand}': No such file or directory\n`
    }
    if (has('c')) lines.push(`${shown(total)}\ttotal\n`)
    return said(lines.join(''), stderr ? 1 : 0, stderr)

    async function weigh(name: string, path: string, depth: number): Promise<number> {
      const { isDirectory, size } = await fs.lstat(path)
      let bytes = has('b') ? size : Math.ceil(size / 4_096) * 4_096
      if (isDirectory) {
        bytes += 4_096
        for (const each of await fs.readdir(path))
          bytes += await weigh(`${name === '/' ? '' : name}/${each}`, fs.resolvePath(path, each), depth + 1)
      }
      if (depth <= deepest && (isDirectory || has('a') || depth === 0)) lines.push(`${shown(bytes)}\t${name}\n`)
      return bytes
    }

    function shown(bytes: number): string {
      if (has('b')) return String(bytes)
      return has('h') ? humanSize(bytes) : String(bytes / 1_024)
    }
  },
  { summarize: 's', all: 'a', 'human-readable': 'h', total: 'c', bytes: 'b', 'max-depth': 'd' },
)

/** Digits after the point of a division with `bc -l`. */
const MATH_SCALE = 20

/** Digits that a number of `bc` may have. */
const MOST_DIGITS = 10_000

/** Exact decimal arithmetic: a whole number and how many of its digits are after the point. */
interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** Calculates lines of `bc`: numbers, variables, parentheses, `+ - * / % ^`, `sqrt`, `scale` and comparisons. */
export const bc = command('bc', 'lq', async ({ operands, has }, context) => {
  let source = ''
  for (const path of operands) source += await readInput(path, context)
  source += await readInput('-', context)
  const variables = new Map<string, Decimal>()
  let scale = has('l') ? MATH_SCALE : 0
  const printed: string[] = []
  for (const line of source.split(/[\n;]/).map((each) => each.replace(/#.*/, '').trim())) {
    if (line === '') continue
    if (line === 'quit') break
    try {
      const assigned = /^([a-z]\w*)\s*=(?!=)(.*)$/.exec(line)
      const value = new Calculation(assigned?.[2] ?? line, variables, scale).result()
      if (!assigned) printed.push(`${written(value)}\n`)
      else if (assigned[1] === 'scale') scale = Math.min(MOST_DIGITS, Number(written(value)))
      else variables.set(assigned[1] as string, value)
    } catch (error) {
      return said(printed.join(''), 0, `(standard_in) 1: ${(error as Error).message}\n`)
    }
  }
  return said(printed.join(''))
})

class Calculation {
  readonly #tokens: string[]
  readonly #variables: ReadonlyMap<string, Decimal>
  readonly #scale: number
  #at = 0

  constructor(text: string, variables: ReadonlyMap<string, Decimal>, scale: number) {
    this.#tokens = text.match(/\d*\.\d+|\d+\.?|[a-z]\w*|[<>=!]=|\S/g) ?? []
    this.#variables = variables
    this.#scale = scale
  }

  result(): Decimal {
    const value = this.#comparison()
    if (this.#at < this.#tokens.length) throw new Error('syntax error')
    return value
  }

  #comparison(): Decimal {
    const left = this.#sum()
    const sign = this.#take('<', '>', '<=', '>=', '==', '!=')
    if (!sign) return left
    const [a, b] = aligned(left, this.#sum())
    const holds = { '<': a < b, '>': a > b, '<=': a <= b, '>=': a >= b, '==': a === b, '!=': a !== b }[sign]
    return { digits: holds ? 1n : 0n, scale: 0 }
  }

  #sum(): Decimal {
    let value = this.#product()
    for (let sign = this.#take('+', '-'); sign; sign = this.#take('+', '-')) {
      const other = this.#product()
      const [a, b, scale] = aligned(value, other)
      value = { digits: sign === '+' ? a + b : a - b, scale }
    }
    return value
  }

  #product(): Decimal {
    let value = this.#power()
    for (let sign = this.#take('*', '/', '%'); sign; sign = this.#take('*', '/', '%')) {
      const other = this.#power()
      if (sign === '*') value = multiplied(value, other, this.#scale)
      else if (other.digits === 0n) throw new Error('Runtime error: Divide by zero')
      else {
        const quotient = divided(value, other, this.#scale)
        value = sign === '/' ? quotient : remainder(value, other, quotient)
      }
    }
    return value
  }

  #power(): Decimal {
    const base = this.#unary()
    if (!this.#take('^')) return base
    const exponent = Number(written(this.#power()))
    if (!Number.isInteger(exponent) || Math.abs(exponent) * String(base.digits).length > MOST_DIGITS)
      throw new Error('Runtime error: exponent too large')
    const raised = {
      digits: base.digits ** BigInt(Math.abs(exponent)),
      scale: base.scale * Math.abs(exponent),
    }
    if (exponent < 0) return divided({ digits: 1n, scale: 0 }, raised, this.#scale)
    return shortened(raised, Math.min(raised.scale, Math.max(this.#scale, base.scale)))
  }

  #unary(): Decimal {
    if (this.#take('-')) {
      const { digits, scale } = this.#unary()
      return { digits: -digits, scale }
    }
    if (this.#take('(')) return this.#closed()
    const token = this.#tokens[this.#at++] ?? ''
    if (token === 'sqrt' && this.#take('(')) {
      const value = this.#closed()
      if (value.digits < 0n) throw new Error('Runtime error: Square root of a negative number')
      const scale = Math.max(this.#scale, value.scale)
      return { digits: rootOf(value.digits * 10n ** BigInt(2 * scale - value.scale)), scale }
    }
    if (token === 'scale') return { digits: BigInt(this.#scale), scale: 0 }
    if (/^[a-z]/.test(token)) return this.#variables.get(token) ?? { digits: 0n, scale: 0 }
    if (!/^[\d.]+$/.test(token) || token.length > MOST_DIGITS) throw new Error('syntax error')
    const [whole = '', part = ''] = token.split('.')
    return { digits: BigInt(`${whole}${part}` || '0'), scale: part.length }
  }

  #closed(): Decimal {
    const value = this.#comparison()
    if (!this.#take(')')) throw new Error('syntax error')
    return value
  }

  #take<Sign extends string>(...signs: readonly Sign[]): Sign | null {
    const token = this.#tokens[this.#at] as Sign
    if (!signs.includes(token)) return null
    this.#at += 1
    return token
  }
}

function aligned(a: Decimal, b: Decimal): [bigint, bigint, number] {
  const scale = Math.max(a.scale, b.scale)
  return [a.digits * 10n ** BigInt(scale - a.scale), b.digits * 10n ** BigInt(scale - b.scale), scale]
}

function shortened({ digits, scale }: Decimal, to: number): Decimal {
  return scale <= to ? { digits, scale } : { digits: digits / 10n ** BigInt(scale - to), scale: to }
}

function multiplied(a: Decimal, b: Decimal, scale: number): Decimal {
  const product = { digits: a.digits * b.digits, scale: a.scale + b.scale }
  return shortened(product, Math.min(product.scale, Math.max(scale, a.scale, b.scale)))
}

function divided(a: Decimal, b: Decimal, scale: number): Decimal {
  const shift = scale + b.scale - a.scale
  const [above, below] =
    shift >= 0 ? [a.digits * 10n ** BigInt(shift), b.digits] : [a.digits, b.digits * 10n ** BigInt(-shift)]
  return { digits: above / below, scale }
}

function remainder(a: Decimal, b: Decimal, quotient: Decimal): Decimal {
  const [left, taken, scale] = aligned(a, { digits: quotient.digits * b.digits, scale: quotient.scale + b.scale })
  return { digits: left - taken, scale }
}

/** Returns the whole square root, by Newton's method. */
function rootOf(value: bigint): bigint {
  if (value < 2n) return value
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next >= root) return root
    root = next
  }
}

/** Writes a number as `bc` does: nothing before the point of what is below 1. */
function written({ digits, scale }: Decimal): string {
  if (digits === 0n) return '0'
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  const whole = text.slice(0, text.length - scale).replace(/^0$/, scale > 0 ? '' : '0')
  return `${digits < 0n ? '-' : ''}${whole}${scale > 0 ? `.${text.slice(text.length - scale)}` : ''}`
}
