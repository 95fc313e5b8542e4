import { PythonError } from '../python/error.ts'
import { attributeOf } from './attributes.ts'
import { isInstance, LIBRARY } from './builtins.ts'
import {
  binary,
  callValue,
  type Expression,
  readExpression,
  readExpressions,
  readPrimary,
  readTargets,
} from './expressions.ts'
import { type Callable, PythonClass, Scope, type Value } from './objects.ts'
import { isTrue, iterate } from './operators.ts'
import { createScanner, type Scanner } from './scanner.ts'

/** What a statement did that ends those around it. */
type Outcome = 'break' | 'continue' | { readonly returned: Value }

type Statement = (scope: Scope) => Outcome | undefined

/**
 * Runs a source of Python: functions, classes, `if`, loops, `try` and what is bound to names, in the words that the
 * sources of benchmarks use. Of what is imported, `LIBRARY` has the modules; other names are looked for around the
 * scope. Throws a `SyntaxError` for what is not read.
 */
export function runPython(source: string, scope: Scope): void {
  const scan = createScanner(source)
  if (scan.token.kind === 'line') scan.next()
  const run = readBlock(scan)
  if (scan.token.kind !== 'end') throw scan.fail('A statement')
  run(scope)
}

function columnOf({ source, token }: Scanner): number {
  return token.start - source.lastIndexOf('\n', token.start - 1) - 1
}

/** Reads the statements of the column where the next one is. */
function readBlock(scan: Scanner): Statement {
  const column = columnOf(scan)
  const all: Statement[] = []
  while (scan.token.kind !== 'end' && columnOf(scan) === column) all.push(readStatement(scan))
  return (scope) => {
    for (const run of all) {
      const outcome = run(scope)
      if (outcome) return outcome
    }
    return undefined
  }
}

/** Reads what stands after a colon: statements that are indented, or one on the same line. */
function readBody(scan: Scanner): Statement {
  scan.expect(':')
  if (scan.token.kind !== 'line') return readStatement(scan)
  scan.next()
  return readBlock(scan)
}

/** Statements with others in them, and how they are read after their word; `column`: where that begins. */
const COMPOUND: Readonly<Record<string, (scan: Scanner, column: number) => Statement>> = {
  if: readIf,
  for: readFor,
  while: readWhile,
  try: readTry,
  def: (scan) => binding(readFunction(scan)),
  class: (scan) => binding(readClass(scan)),
  '@': (scan) => binding(readDecorated(scan)),
}

const SIMPLE: Readonly<Record<string, (scan: Scanner) => Statement>> = {
  return(scan) {
    const value = endsStatement(scan) ? null : readExpressions(scan)
    return (scope) => ({ returned: value?.get(scope) ?? null })
  },
  raise(scan) {
    const value = readExpression(scan)
    return (scope) => {
      const raised = value.get(scope)
      throw raised instanceof PythonClass ? raised.make([], {}) : raised
    }
  },
  del(scan) {
    const target = readPrimary(scan)
    return (scope) => void target.remove?.(scope)
  },
  pass: () => () => undefined,
  break: () => () => 'break',
  continue: () => () => 'continue',
  import: (scan) => readImport(scan),
  from: readFromImport,
}

function readStatement(scan: Scanner): Statement {
  const word = scan.token.kind === 'text' ? '' : scan.token.text
  const compound = Object.hasOwn(COMPOUND, word) && COMPOUND[word]
  if (compound) {
    const column = columnOf(scan)
    scan.next()
    return compound(scan, column)
  }
  const simple = Object.hasOwn(SIMPLE, word) && SIMPLE[word]
  if (simple) scan.next()
  const statement = simple ? simple(scan) : readBinding(scan)
  if (!endsStatement(scan)) throw scan.fail('The end of a line')
  scan.next()
  return statement
}

const endsStatement = ({ token }: Scanner) => token.kind === 'line' || token.kind === 'end' || token.text === ';'

/** Reads an expression, or what binds one: `a = b = 1`, `a: int = 1`, `a += 1`. */
function readBinding(scan: Scanner): Statement {
  const targets: Expression[] = []
  let value = readExpressions(scan)
  if (scan.take(':')) {
    readExpression(scan)
    if (endsStatement(scan)) return () => undefined
  }
  const sign = /^([-+*/%|&]|\/\/)=$/.exec(scan.token.text)?.[1]
  if (sign) {
    scan.next()
    targets.push(value)
    value = binary(value, sign, readExpressions(scan))
  }
  while (scan.take('=')) {
    targets.push(value)
    value = readExpressions(scan)
  }
  return (scope) => {
    const bound = value.get(scope)
    for (const target of targets) target.set?.(scope, bound)
    return undefined
  }
}

function readIf(scan: Scanner, column: number): Statement {
  const condition = readExpression(scan)
  const body = readBody(scan)
  const goesOn = columnOf(scan) === column
  const otherwise =
    goesOn && scan.take('elif') ? readIf(scan, column) : goesOn && scan.take('else') ? readBody(scan) : null
  return (scope) => (isTrue(condition.get(scope)) ? body(scope) : otherwise?.(scope))
}

function readFor(scan: Scanner): Statement {
  const target = readTargets(scan)
  scan.expect('in')
  const all = readExpressions(scan)
  const body = readBody(scan)
  return (scope) => {
    for (const item of iterate(all.get(scope))) {
      target.set?.(scope, item)
      const outcome = body(scope)
      if (outcome === 'break') break
      if (typeof outcome === 'object') return outcome
    }
    return undefined
  }
}

function readWhile(scan: Scanner): Statement {
  const condition = readExpression(scan)
  const body = readBody(scan)
  return (scope) => {
    while (isTrue(condition.get(scope))) {
      const outcome = body(scope)
      if (outcome === 'break') break
      if (typeof outcome === 'object') return outcome
    }
    return undefined
  }
}

function readTry(scan: Scanner, column: number): Statement {
  const body = readBody(scan)
  const handlers: { readonly type: Expression | null; readonly name: string | null; readonly handle: Statement }[] = []
  while (columnOf(scan) === column && scan.take('except')) {
    const type = scan.token.text === ':' ? null : readExpression(scan)
    const name = scan.take('as') ? scan.next().text : null
    handlers.push({ type, name, handle: readBody(scan) })
  }
  return (scope) => {
    try {
      return body(scope)
    } catch (error) {
      if (!(error instanceof PythonError)) throw error
      const handler = handlers.find(({ type }) => type === null || isInstance(error, type.get(scope)))
      if (!handler) throw error
      if (handler.name) scope.names.set(handler.name, error)
      return handler.handle(scope)
    }
  }
}

/** A name with what it is bound to when its statement runs. */
interface Definition {
  readonly name: string
  make(scope: Scope): Value
}

const binding =
  ({ name, make }: Definition): Statement =>
  (scope) =>
    void scope.names.set(name, make(scope))

function readDecorated(scan: Scanner): Definition {
  const decorator = readExpression(scan)
  scan.next()
  const word = scan.next().text
  const { name, make } = word === '@' ? readDecorated(scan) : word === 'class' ? readClass(scan) : readFunction(scan)
  return { name, make: (scope) => callValue(decorator.get(scope), [make(scope)]) }
}

function readFunction(scan: Scanner): Definition {
  const name = scan.next().text
  const parameters: { readonly name: string; readonly fallback: Expression | null }[] = []
  scan.expect('(')
  scan.items(')', () => {
    const parameter = scan.next().text
    if (scan.take(':')) readExpression(scan)
    parameters.push({ name: parameter, fallback: scan.take('=') ? readExpression(scan) : null })
  })
  if (scan.take('->')) readExpression(scan)
  const body = readBody(scan)
  return {
    name,
    make(scope): Callable {
      const around = scope.isClass ? scope.around : scope
      return (given, named) => {
        const own = new Scope(around)
        for (const [i, { name: parameter, fallback }] of parameters.entries()) {
          // What a default makes is made anew, so that calls do not share it.
          const value = i < given.length ? given[i] : (named[parameter] ?? fallback?.get(own))
          if (value === undefined) throw new PythonError('TypeError', `${name}() misses an argument: '${parameter}'`)
          own.names.set(parameter, value)
        }
        const outcome = body(own)
        return typeof outcome === 'object' ? outcome.returned : null
      }
    },
  }
}

function readClass(scan: Scanner): Definition {
  const name = scan.next().text
  const bases: Expression[] = []
  if (scan.take('(')) scan.items(')', () => bases.push(readExpression(scan)))
  const body = readBody(scan)
  return {
    name,
    make(scope) {
      const inner = new Scope(scope, [], true)
      body(inner)
      const extended = bases.map((base) => base.get(scope)).filter((base) => base instanceof PythonClass)
      return new PythonClass(name, extended, inner.names)
    },
  }
}

/** `import a` and `from a import b` bind what the library has. */
function readImport(scan: Scanner, module = ''): Statement {
  const words: string[] = []
  while (!endsStatement(scan)) words.push(scan.next().text)
  return (scope) => {
    for (const name of words) {
      const owner = LIBRARY[module || name]
      if (owner && /^\w+$/.test(name)) scope.names.set(name, module ? attributeOf(owner, name) : owner)
    }
    return undefined
  }
}

function readFromImport(scan: Scanner): Statement {
  let module = ''
  while (!scan.take('import')) module += scan.next().text
  return readImport(scan, module)
}
