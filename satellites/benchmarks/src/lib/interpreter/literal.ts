import type { PythonValue } from '../python/value.ts'
import { BUILTINS } from './builtins.ts'
import { readArguments, readExpression } from './expressions.ts'
import { createScanner } from './scanner.ts'

/** A call, such as `place_order('AAPL', amount=5)`. */
export interface PythonCall {
  readonly name: string
  readonly positional: readonly PythonValue[]
  readonly named: Readonly<Record<string, PythonValue>>
}

/**
 * Reads a literal at a place of a text of Python: numbers, texts, lists, tuples, sets and dicts of them. JSON is read
 * too, and keeps its floats and the order of its keys. Throws a `SyntaxError` for anything else.
 */
export function readLiteral(source: string, at = 0): PythonValue {
  return readExpression(createScanner(source, at)).get(BUILTINS) as PythonValue
}

/**
 * Returns the literal that a name is first bound to in a source, such as `DEFAULT_STATE = {…}`. Throws if there is
 * none.
 */
export function readConstant(source: string, name: string): PythonValue {
  const found = new RegExp(`\\b${name}\\b[^=\\n]*= *`).exec(source)
  if (!found) throw new SyntaxError(`No literal is bound to ${name}.`)
  return readLiteral(source, found.index + found[0].length)
}

/** Reads a call whose arguments are literals. */
export function readCall(source: string): PythonCall {
  const scan = createScanner(source)
  const name = scan.next().text
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new SyntaxError(`A name is expected at 0: ${source.slice(0, 40)}`)
  scan.expect('(')
  const { positional, named } = readArguments(scan)
  if (scan.token.kind !== 'end') throw scan.fail('The end')
  return {
    name,
    positional: positional.map((one) => one.get(BUILTINS) as PythonValue),
    named: Object.fromEntries(named.map(([key, one]) => [key, one.get(BUILTINS) as PythonValue])),
  }
}
