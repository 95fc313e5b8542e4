import { formatFixed } from '../python/round.ts'
import { formatFloat } from '../python/value.ts'
import { ToolError } from './domain.ts'

/** A whole number, of any size, or one with a point. */
type Value = bigint | number

/** Digits that a power may have: Python cannot make a number with a point of so many. */
const MOST_DIGITS = 1_000

/** Brackets that may stand in each other. */
const MOST_NESTED = 200

const TOKEN = / *(\d+\.\d*|\.\d+|\d+|\*\*|\/\/|[-+*/().])/y

/**
 * Calculates an expression of numbers, `+ - * / // **` and brackets as Python does, rounds it to two places, and writes
 * it as Python writes a number with a point: whole numbers are exact, `//` rounds down, and `-2 ** 2` is -4. Throws
 * with the message of Python 3.12 for what is not an expression, and for what has no result.
 */
export function calculate(expression: string): string {
  if (!/^[-+*/(). \d]*$/.test(expression)) throw new ToolError('Invalid characters in expression')
  return formatFloat(roundToCents(toFloat(parse(tokensOf(expression))())))
}

/** Rounds to two places: the nearest, and of two that are as near the even one, as Python does. */
export function roundToCents(value: number): number {
  return Number.isFinite(value) ? Number(formatFixed(value, 2)) : value
}

function tokensOf(expression: string): string[] {
  const tokens: string[] = []
  let nested = 0
  TOKEN.lastIndex = 0
  for (let found = TOKEN.exec(expression); found; found = TOKEN.exec(expression)) {
    const token = found[1] as string
    if (/^0+[1-9]\d*$/.test(token))
      throw wrong('leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers')
    nested += token === '(' ? 1 : token === ')' ? -1 : 0
    if (nested < 0) throw wrong("unmatched ')'")
    if (nested >= MOST_NESTED) throw wrong('too many nested parentheses')
    tokens.push(token)
  }
  if (nested > 0) throw wrong("'(' was never closed")
  if (tokens.length === 0) throw new ToolError('invalid syntax (<string>, line 0)')
  return tokens
}

function wrong(what = 'invalid syntax'): ToolError {
  return new ToolError(`${what} (<string>, line 1)`)
}

/** Returns what calculates an expression. Throws if it is none, before anything is calculated. */
function parse(tokens: readonly string[]): () => Value {
  let at = 0
  const take = (...wanted: readonly string[]) => (wanted.includes(tokens[at] ?? '') ? (tokens[at++] as string) : null)
  const chain = (operators: Readonly<Record<string, (a: Value, b: Value) => Value>>, next: () => () => Value) => {
    let value = next()
    for (let sign = take(...Object.keys(operators)); sign; sign = take(...Object.keys(operators))) {
      const [left, operate, right] = [value, operators[sign] as (a: Value, b: Value) => Value, next()]
      value = () => operate(left(), right())
    }
    return value
  }
  const sum = (): (() => Value) => chain({ '+': (a, b) => add(a, b, 1), '-': (a, b) => add(a, b, -1) }, product)
  const product = () => chain({ '*': multiply, '/': divide, '//': divideDown }, signed)
  const signed = (): (() => Value) => {
    const sign = take('+', '-')
    if (!sign) return power()
    const value = signed()
    return sign === '+' ? value : () => -value()
  }
  const power = (): (() => Value) => {
    const base = called()
    if (!take('**')) return base
    const exponent = signed()
    return () => raise(base(), exponent())
  }
  const called = () => {
    let value = atom()
    while (take('(')) {
      const [callee, given] = [value, tokens[at] === ')' ? () => 0 : sum()]
      close()
      value = () => {
        const type = typeof callee() === 'bigint' ? 'int' : 'float'
        given()
        throw new ToolError(`'${type}' object is not callable`)
      }
    }
    return value
  }
  const atom = (): (() => Value) => {
    if (take('(')) {
      const value = sum()
      close()
      return value
    }
    const token = tokens[at++] ?? ''
    if (!/\d/.test(token)) throw wrong()
    const value = token.includes('.') ? Number(token) : BigInt(token)
    return () => value
  }
  const close = () => {
    if (!take(')')) throw wrong(/\d/.test(tokens[at] ?? '') ? 'invalid syntax. Perhaps you forgot a comma?' : undefined)
  }
  const value = sum()
  if (at < tokens.length) throw wrong()
  return value
}

function toFloat(value: Value): number {
  const float = Number(value)
  if (typeof value === 'bigint' && !Number.isFinite(float)) throw new ToolError('int too large to convert to float')
  return float
}

function add(a: Value, b: Value, sign: 1 | -1): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return sign === 1 ? a + b : a - b
  return toFloat(a) + sign * toFloat(b)
}

function multiply(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a * b
  return toFloat(a) * toFloat(b)
}

function divide(a: Value, b: Value): Value {
  const areWhole = typeof a === 'bigint' && typeof b === 'bigint'
  if (Number(b) === 0) throw new ToolError(areWhole ? 'division by zero' : 'float division by zero')
  return areWhole ? ratio(a, b) : toFloat(a) / toFloat(b)
}

/** Returns the number that is nearest to a ratio of whole numbers, which may have more digits than a number keeps. */
function ratio(a: bigint, b: bigint): number {
  const [over, under] = [a < 0n ? -a : a, b < 0n ? -b : b]
  const shift = Math.max(0, 66 + under.toString(2).length - over.toString(2).length)
  const shifted = over << BigInt(shift)
  // What is left over decides between two numbers that are as near otherwise.
  const quotient = ((shifted / under) << 1n) | (shifted % under === 0n ? 0n : 1n)
  const float = (Number(quotient) / 2 ** (shift + 1)) * (a < 0n === b < 0n ? 1 : -1)
  if (!Number.isFinite(float)) throw new ToolError('integer division result too large for a float')
  return float
}

function divideDown(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (b === 0n) throw new ToolError('integer division or modulo by zero')
    const rest = a % b
    return a / b - (rest !== 0n && rest < 0n !== b < 0n ? 1n : 0n)
  }
  const [dividend, by] = [toFloat(a), toFloat(b)]
  if (by === 0) throw new ToolError('float floor division by zero')
  let rest = dividend % by
  if (rest !== 0 && rest < 0 !== by < 0) rest += by
  return Math.round((dividend - rest) / by) || 0 * (dividend / by)
}

function raise(base: Value, exponent: Value): Value {
  if (typeof base === 'bigint' && typeof exponent === 'bigint' && exponent >= 0n) {
    if (base ** 2n > 1n && BigInt(base.toString().length) * exponent > MOST_DIGITS)
      throw new ToolError('int too large to convert to float')
    return base ** exponent
  }
  const [from, by] = [toFloat(base), toFloat(exponent)]
  if (from === 0 && by < 0) throw new ToolError('0.0 cannot be raised to a negative power')
  if (from < 0 && Number.isFinite(by) && !Number.isInteger(by))
    throw new ToolError("float() argument must be a string or a real number, not 'complex'")
  const raised = from ** by
  if (!Number.isFinite(raised) && Number.isFinite(from) && Number.isFinite(by))
    throw new ToolError("(34, 'Numerical result out of range')")
  return raised
}
