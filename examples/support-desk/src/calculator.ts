/** A whole number, of any size, or one with a point. */
type Value = bigint | number

/** Thrown for what is not an expression, and for what has no result. */
export class CalculatorError extends Error {}

/** Digits that the exponent of a power may lead to. */
const MOST_DIGITS = 1_000

/** Brackets that may stand in each other. */
const MOST_NESTED = 100

const TOKEN = / *(\d+\.\d*|\.\d+|\d+|\*\*|\/\/|[-+*/()])/y

/**
 * Calculates an expression of numbers, `+ - * / // **` and brackets as Python does, rounds it to two places, and writes
 * it as Python writes a number with a point: whole numbers are exact, `//` rounds down, and `-2 ** 2` is -4.
 */
export function calculate(expression: string): string {
  const tokens = tokensOf(expression)
  let at = 0
  let nested = 0
  const take = (...wanted: readonly string[]) => (wanted.includes(tokens[at] ?? '') ? (tokens[at++] as string) : null)
  const sum = (): Value => {
    let value = product()
    for (let sign = take('+', '-'); sign; sign = take('+', '-')) value = add(value, product(), sign === '+' ? 1 : -1)
    return value
  }
  const product = (): Value => {
    let value = signed()
    for (let sign = take('*', '/', '//'); sign; sign = take('*', '/', '//')) {
      const other = signed()
      value = sign === '*' ? multiply(value, other) : sign === '/' ? divide(value, other) : divideDown(value, other)
    }
    return value
  }
  const signed = (): Value => {
    let isNegative = false
    for (let sign = take('+', '-'); sign; sign = take('+', '-')) isNegative = isNegative !== (sign === '-')
    const value = power()
    return isNegative ? -value : value
  }
  const power = (): Value => {
    const base = atom()
    return take('**') ? raise(base, signed()) : base
  }
  const atom = (): Value => {
    if (take('(')) {
      nested += 1
      if (nested > MOST_NESTED) throw new CalculatorError('The expression has too many brackets.')
      const value = sum()
      if (!take(')')) throw new CalculatorError('A bracket is not closed.')
      nested -= 1
      return value
    }
    const token = tokens[at++] ?? ''
    if (/^0*[1-9]\d*$|^0+$/.test(token) && !/^0+[1-9]/.test(token)) return BigInt(token)
    if (/^(\d+\.\d*|\.\d+)$/.test(token)) return Number(token)
    throw new CalculatorError('The expression cannot be read.')
  }
  const value = sum()
  if (at < tokens.length) throw new CalculatorError('The expression cannot be read.')
  return written(roundToCents(toFloat(value)))
}

/** Rounds to two places: the nearest, and of two that are as near the even one, as Python does. */
export function roundToCents(value: number): number {
  // `toFixed` is exact, and takes the larger of two that are as near. There are two only for odd multiples of 1/8.
  if (value === 0) return value
  const eighths = value * 8
  if (!Number.isSafeInteger(eighths) || eighths % 2 === 0) return Number(value.toFixed(2))
  const below = Math.floor(value * 100)
  return (below % 2 === 0 ? below : below + 1) / 100
}

function tokensOf(expression: string): string[] {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  const end = expression.replace(/ +$/, '').length
  while (TOKEN.lastIndex < end) {
    const found = TOKEN.exec(expression)
    if (!found) throw new CalculatorError('An expression has numbers, + - * / ( ), points and spaces.')
    tokens.push(found[1] as string)
  }
  return tokens
}

function toFloat(value: Value): number {
  return finite(Number(value))
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new CalculatorError('The result is too large.')
  return value
}

function add(a: Value, b: Value, sign: 1 | -1): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return sign === 1 ? a + b : a - b
  return finite(toFloat(a) + sign * toFloat(b))
}

function multiply(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a * b
  return finite(toFloat(a) * toFloat(b))
}

function divide(a: Value, b: Value): Value {
  const [dividend, by] = [toFloat(a), divisor(toFloat(b))]
  const isExact = Number.isSafeInteger(dividend) && Number.isSafeInteger(by)
  return typeof a === 'bigint' && typeof b === 'bigint' && !isExact ? ratio(a, b) : finite(dividend / by)
}

/** Returns the number that is nearest to a ratio of whole numbers, which may have more digits than a number keeps. */
function ratio(a: bigint, b: bigint): number {
  const [over, under] = [a < 0n ? -a : a, b < 0n ? -b : b]
  const shift = Math.max(0, 66 + under.toString(2).length - over.toString(2).length)
  const shifted = over << BigInt(shift)
  // What is left over decides between two numbers that are as near otherwise.
  const quotient = ((shifted / under) << 1n) | (shifted % under === 0n ? 0n : 1n)
  return (finite(Number(quotient)) / 2 ** (shift + 1)) * (a < 0n === b < 0n ? 1 : -1)
}

function divideDown(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    divisor(toFloat(b))
    const rest = a % b
    return a / b - (rest !== 0n && rest < 0n !== b < 0n ? 1n : 0n)
  }
  const [dividend, by] = [toFloat(a), divisor(toFloat(b))]
  let rest = dividend % by
  if (rest !== 0 && rest < 0 !== by < 0) rest += by
  return Math.round((dividend - rest) / by) || 0 * (dividend / by)
}

function divisor(value: number): number {
  if (value === 0) throw new CalculatorError('Nothing can be divided by zero.')
  return value
}

function raise(base: Value, exponent: Value): Value {
  if (typeof base === 'bigint' && typeof exponent === 'bigint' && exponent >= 0n) {
    if (BigInt(base.toString().length) * exponent > MOST_DIGITS) throw new CalculatorError('The result is too large.')
    return base ** exponent
  }
  const [from, by] = [toFloat(base), toFloat(exponent)]
  if (from === 0 && by < 0) throw new CalculatorError('Nothing can be divided by zero.')
  if (from < 0 && !Number.isInteger(by)) throw new CalculatorError('The result is not a real number.')
  return finite(from ** by)
}

function written(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  const text = String(value)
  if (Math.abs(value) >= 1e16) return exponential(value)
  return text.includes('.') ? text : `${text}.0`
}

/** JavaScript begins to write an exponent at 1e21, and Python at 1e16. */
function exponential(value: number): string {
  return value.toExponential().replace(/e\+(\d)$/, 'e+0$1')
}
