import { toInt } from '../python/arithmetic.ts'
import { PythonError } from '../python/error.ts'
import { repr, str } from '../python/repr.ts'
import { formatFixed } from '../python/round.ts'
import { float, numberOf, type PythonValue } from '../python/value.ts'
import { attributeOf, setAttribute } from './attributes.ts'
import { makeDict, removeItem, setItem } from './dict.ts'
import { type Callable, deepCopy, PythonClass, Scope, typeName, type Value } from './objects.ts'
import { isTrue, itemAt, iterate, makeSet, OPERATORS, placeOf, Slice } from './operators.ts'
import { createScanner, type Scanner, type Token } from './scanner.ts'

/** An expression that was read. */
export interface Expression {
  get(scope: Scope): Value
  /** Of what something can be bound to. */
  readonly set?: (scope: Scope, value: Value) => void
  readonly remove?: (scope: Scope) => void
  /** Whether it is a literal. */
  readonly isConstant?: boolean
}

const constant = (value: Value): Expression => ({ get: () => value, isConstant: true })

/** Reads one expression, or several with commas between them, which are a tuple. */
export function readExpressions(scan: Scanner): Expression {
  const first = readExpression(scan)
  if (scan.token.text !== ',') return first
  const items = [first]
  while (scan.take(',')) if (beginsExpression(scan.token)) items.push(readExpression(scan))
  return tupleOf(items)
}

function beginsExpression({ kind, text }: Token): boolean {
  if (kind === 'name') return !['in', 'for', 'if', 'else'].includes(text)
  return kind === 'number' || kind === 'text' || ['(', '[', '{', '-', '+'].includes(text)
}

export function readExpression(scan: Scanner): Expression {
  if (scan.token.text === 'lambda') return readLambda(scan)
  const value = readOr(scan)
  if (!scan.take('if')) return value
  const condition = readOr(scan)
  scan.expect('else')
  const otherwise = readExpression(scan)
  return { get: (scope) => (isTrue(condition.get(scope)) ? value : otherwise).get(scope) }
}

function readLambda(scan: Scanner): Expression {
  scan.next()
  const names: string[] = []
  while (!scan.take(':')) {
    names.push(scan.next().text)
    scan.take(',')
  }
  const body = readExpression(scan)
  return {
    get: (around): Callable => {
      return (given) =>
        body.get(
          new Scope(
            around,
            names.map((name, i) => [name, given[i]] as const),
          ),
        )
    },
  }
}

function readOr(scan: Scanner): Expression {
  let left = readAnd(scan)
  while (scan.take('or')) {
    const [first, second] = [left, readAnd(scan)]
    left = {
      get(scope) {
        const value = first.get(scope)
        return isTrue(value) ? value : second.get(scope)
      },
    }
  }
  return left
}

function readAnd(scan: Scanner): Expression {
  let left = readNot(scan)
  while (scan.take('and')) {
    const [first, second] = [left, readNot(scan)]
    left = {
      get(scope) {
        const value = first.get(scope)
        return isTrue(value) ? second.get(scope) : value
      },
    }
  }
  return left
}

function readNot(scan: Scanner): Expression {
  if (!scan.take('not')) return readComparison(scan)
  const value = readNot(scan)
  return { get: (scope) => !isTrue(value.get(scope)) }
}

const COMPARISONS = new Set(['==', '!=', '<', '<=', '>', '>=', 'in', 'not', 'is'])

function readComparison(scan: Scanner): Expression {
  const first = readBinary(scan)
  const rest: [operate: (a: Value, b: Value) => Value, operand: Expression][] = []
  while (COMPARISONS.has(scan.token.text) && scan.token.kind !== 'text') {
    let sign = scan.next().text
    if (sign === 'not') sign += ` ${scan.next().text}`
    if (sign === 'is' && scan.take('not')) sign = 'is not'
    rest.push([OPERATORS[sign] as (a: Value, b: Value) => Value, readBinary(scan)])
  }
  if (rest.length === 0) return first
  return {
    get(scope) {
      let left = first.get(scope)
      for (const [operate, operand] of rest) {
        const right = operand.get(scope)
        if (!operate(left, right)) return false
        left = right
      }
      return true
    },
  }
}

/** Signs that bind from left to right, those that bind least first. */
const LEVELS = [['|'], ['&'], ['+', '-'], ['*', '/', '//', '%']] as const

function readBinary(scan: Scanner, level = 0): Expression {
  const signs: readonly string[] | undefined = LEVELS[level]
  if (!signs) return readSigned(scan)
  let left = readBinary(scan, level + 1)
  while (signs.includes(scan.token.text) && scan.token.kind === 'sign')
    left = binary(left, scan.next().text, readBinary(scan, level + 1))
  return left
}

export function binary(left: Expression, sign: string, right: Expression): Expression {
  const operate = OPERATORS[sign] as (a: Value, b: Value) => Value
  return { get: (scope) => operate(left.get(scope), right.get(scope)) }
}

function readSigned(scan: Scanner): Expression {
  if (scan.take('+')) return readSigned(scan)
  if (scan.take('-')) {
    const value = readSigned(scan)
    const negated = { get: (scope: Scope) => negative(value.get(scope)) }
    return value.isConstant ? constant(negated.get(NOWHERE)) : negated
  }
  const base = readPrimary(scan)
  return scan.take('**') ? binary(base, '**', readSigned(scan)) : base
}

function negative(value: Value): Value {
  if (typeName(value) === 'float') return float(-numberOf(value))
  return (OPERATORS['-'] as (a: Value, b: Value) => Value)(0, value)
}

const NOWHERE = new Scope(null)

/** Reads a name or a literal with what follows it: attributes, keys and calls. */
export function readPrimary(scan: Scanner): Expression {
  let owner = readAtom(scan)
  for (;;) {
    if (scan.take('.')) owner = attribute(owner, scan.next().text)
    else if (scan.take('[')) owner = readKey(scan, owner)
    else if (scan.take('(')) owner = call(owner, readArguments(scan))
    else return owner
  }
}

function attribute(owner: Expression, name: string): Expression {
  return {
    get: (scope) => attributeOf(owner.get(scope), name),
    set: (scope, value) => setAttribute(owner.get(scope), name, value),
  }
}

function readKey(scan: Scanner, owner: Expression): Expression {
  const bounds: (Expression | null)[] = [null]
  while (!scan.take(']')) {
    if (scan.take(':')) bounds.push(null)
    else bounds[bounds.length - 1] = readExpressions(scan)
  }
  const key = (scope: Scope) =>
    bounds.length > 1
      ? new Slice(bounds.map((bound) => bound?.get(scope) ?? null))
      : ((bounds[0] as Expression).get(scope) as Value)
  return {
    get: (scope) => itemAt(owner.get(scope), key(scope)),
    set(scope, value) {
      const [all, at] = [owner.get(scope), key(scope)]
      if (Array.isArray(all)) all[placeOf(all, at)] = value
      else setItem(all as object, at, value)
    },
    remove(scope) {
      const at = key(scope)
      if (removeItem(owner.get(scope) as object, at) === undefined)
        throw new PythonError('KeyError', repr(at as PythonValue))
    },
  }
}

export interface Arguments {
  readonly positional: readonly Expression[]
  readonly named: readonly (readonly [name: string, value: Expression])[]
}

/** Reads the arguments of a call, after its bracket. */
export function readArguments(scan: Scanner): Arguments {
  const positional: Expression[] = []
  const named: [string, Expression][] = []
  scan.items(')', () => {
    const { kind, text, start } = scan.token
    if (scan.take('**')) named.push(['**', readExpression(scan)])
    else if (kind === 'name' && /^\s*=(?!=)/.test(scan.source.slice(start + text.length, start + text.length + 9))) {
      scan.next()
      scan.expect('=')
      named.push([text, readExpression(scan)])
    } else {
      const value = readExpression(scan)
      positional.push(scan.token.text === 'for' ? readLoop(scan, value) : value)
    }
  })
  return { positional, named }
}

function call(callee: Expression, { positional, named }: Arguments): Expression {
  return {
    get(scope) {
      const called = callee.get(scope)
      const given = positional.map((one) => one.get(scope))
      const byName: Record<string, Value> = {}
      for (const [name, one] of named)
        if (name === '**') Object.assign(byName, one.get(scope))
        else byName[name] = one.get(scope)
      return callValue(called, given, byName)
    },
  }
}

const NONE: Readonly<Record<string, Value>> = {}

/** Calls a function, or makes an object of a class. */
export function callValue(
  called: Value,
  given: readonly Value[],
  named: Readonly<Record<string, Value>> = NONE,
): Value {
  if (called instanceof PythonClass) return called.make(given, named)
  if (typeof called === 'function') return (called as Callable)(given, named) ?? null
  throw new PythonError('TypeError', `'${typeName(called)}' object is not callable`)
}

interface Clause {
  readonly target: Expression
  readonly all: Expression
  readonly conditions: readonly Expression[]
}

interface Loop extends Expression {
  get(scope: Scope): Iterable<Value>
}

/** Reads the rest of a comprehension. Its value goes through what it makes, once. */
function readLoop(scan: Scanner, made: Expression): Loop {
  const clauses: Clause[] = []
  while (scan.take('for')) {
    const target = readTargets(scan)
    scan.expect('in')
    const all = readOr(scan)
    const conditions: Expression[] = []
    while (scan.take('if')) conditions.push(readOr(scan))
    clauses.push({ target, all, conditions })
  }
  function* through(scope: Scope, at: number): Generator<Value> {
    const clause = clauses[at]
    if (!clause) {
      yield made.get(scope)
      return
    }
    for (const item of iterate(clause.all.get(scope))) {
      clause.target.set?.(scope, item)
      if (clause.conditions.every((one) => isTrue(one.get(scope)))) yield* through(scope, at + 1)
    }
  }
  return { get: (around) => through(new Scope(around), 0) }
}

/** Reads what a loop binds: names, with commas between them. */
export function readTargets(scan: Scanner): Expression {
  const targets = [readPrimary(scan)]
  while (scan.take(',')) targets.push(readPrimary(scan))
  return targets.length === 1 ? (targets[0] as Expression) : tupleOf(targets)
}

function tupleOf(items: readonly Expression[]): Expression {
  return {
    get: (scope) => ({ $tuple: items.map((one) => one.get(scope)) }),
    set(scope, value) {
      const values = [...iterate(value)]
      if (values.length !== items.length) throw new PythonError('ValueError', 'not as many values to unpack')
      for (const [i, one] of items.entries()) one.set?.(scope, values[i])
    },
    isConstant: items.every((one) => one.isConstant),
  }
}

/** A list, a set or a dict: a literal of literals is made once, and copied. */
function collection(parts: readonly Expression[], make: (scope: Scope) => Value): Expression {
  if (!parts.every((one) => one.isConstant)) return { get: make }
  const value = make(NOWHERE)
  return { get: () => deepCopy(value), isConstant: true }
}

const NAMED: Readonly<Record<string, Value>> = {
  None: null,
  True: true,
  False: false,
  null: null,
  true: true,
  false: false,
}

function readAtom(scan: Scanner): Expression {
  const { kind, text } = scan.token
  if (kind === 'text') return readText(scan)
  if (kind === 'number') return constant(numberFrom(scan.next().text))
  if (kind === 'name') {
    scan.next()
    if (Object.hasOwn(NAMED, text)) return constant(NAMED[text])
    return { get: (scope) => scope.get(text), set: (scope, value) => void scope.names.set(text, value) }
  }
  if (scan.take('(')) return readParenthesis(scan)
  if (scan.take('[')) return readList(scan)
  if (scan.take('{')) return readBraces(scan)
  if (scan.take('...')) return constant({ $repr: 'Ellipsis' })
  throw scan.fail('An expression')
}

function numberFrom(text: string): Value {
  const digits = text.replaceAll('_', '')
  return /[.eE]/.test(digits) ? float(Number(digits)) : toInt(BigInt(digits))
}

function readParenthesis(scan: Scanner): Expression {
  const items: Expression[] = []
  let loop: Expression | undefined
  const comma = scan.items(')', () => {
    const item = readExpression(scan)
    if (scan.token.text === 'for') loop = readLoop(scan, item)
    items.push(item)
  })
  return loop ?? (items.length === 1 && !comma ? (items[0] as Expression) : tupleOf(items))
}

function readList(scan: Scanner): Expression {
  const items: Expression[] = []
  const spread = new Set<Expression>()
  let loop: Loop | undefined
  scan.items(']', () => {
    const isSpread = scan.take('*')
    const item = readExpression(scan)
    if (isSpread) spread.add(item)
    if (scan.token.text === 'for') loop = readLoop(scan, item)
    items.push(item)
  })
  if (loop) return { get: (scope) => [...(loop as Loop).get(scope)] }
  return collection(items, (scope) =>
    items.flatMap((one) => (spread.has(one) ? [...iterate(one.get(scope))] : [one.get(scope)])),
  )
}

/** Reads a dict or a set. */
function readBraces(scan: Scanner): Expression {
  const keys: Expression[] = []
  const items: Expression[] = []
  let loop: Loop | undefined
  scan.items('}', () => {
    const key = readExpression(scan)
    keys.push(key)
    if (scan.take(':')) items.push(readExpression(scan))
    if (scan.token.text === 'for') loop = readLoop(scan, tupleOf([key, ...items]))
  })
  const isSet = keys.length > items.length
  if (loop) {
    const { get } = loop
    if (isSet) return { get: (scope) => makeSet([...get(scope)].map((made) => itemAt(made, 0))) }
    return { get: (scope) => makeDict([...get(scope)].map((made) => [itemAt(made, 0), itemAt(made, 1)])) }
  }
  if (isSet) return collection(keys, (scope) => makeSet(keys.map((one) => one.get(scope))))
  return collection([...keys, ...items], (scope) =>
    makeDict(keys.map((key, i) => [key.get(scope), (items[i] as Expression).get(scope)])),
  )
}

/** Reads a text, or several beside one another, which are one. */
function readText(scan: Scanner): Expression {
  const parts: Expression[] = []
  while (scan.token.kind === 'text') {
    const [, prefix = '', , body = ''] = /^(\w*)("""|'''|"|')([\s\S]*)\2$/.exec(scan.next().text) ?? []
    const isRaw = /r/i.test(prefix)
    if (/f/i.test(prefix)) parts.push(...readFormatted(body, isRaw))
    else parts.push(constant(isRaw ? body : unescaped(body)))
  }
  const [first] = parts
  if (first && parts.length === 1) return first
  const join = (scope: Scope) => parts.map((part) => part.get(scope)).join('')
  return parts.every((part) => part.isConstant) ? constant(join(NOWHERE)) : { get: join }
}

/** Reads the parts of a text with `f`. */
function readFormatted(body: string, isRaw: boolean): Expression[] {
  const parts: Expression[] = []
  const literal = /(?:[^{}]|\{\{|\}\})+/y
  for (let at = 0; at < body.length; ) {
    literal.lastIndex = at
    const [text] = literal.exec(body) ?? []
    if (text !== undefined) {
      const plain = text.replace(/([{}])\1/g, '$1')
      parts.push(constant(isRaw ? plain : unescaped(plain)))
      at += text.length
      continue
    }
    const scan = createScanner(body, at + 1, 1)
    const value = readExpression(scan)
    const print = scan.take('!') ? (scan.next().text === 'r' ? repr : str) : str
    const [, format = ''] = /^(?::([^}]*))?\}/.exec(body.slice(scan.token.start)) ?? []
    at = body.indexOf('}', scan.token.start) + 1
    parts.push({ get: (scope) => formatted(value.get(scope), format, print) })
  }
  return parts
}

function formatted(value: Value, format: string, print: (value: PythonValue) => string): string {
  if (format === '') return value instanceof PythonError ? value.message : print(value as PythonValue)
  const [, digits] = /^\.(\d+)f$/.exec(format) ?? []
  if (digits === undefined) throw new PythonError('ValueError', `the format ${format} is not reproduced`)
  return formatFixed(numberOf(value), Number(digits))
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07', 0: '\0' },
  ...{ '\n': '', '\\': '\\', "'": "'", '"': '"', '/': '/' },
}

function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[\s\S])/g, (whole, code: string) =>
    code[1] ? String.fromCodePoint(Number.parseInt(code.slice(1), 16)) : (ESCAPES[code] ?? whole),
  )
}
