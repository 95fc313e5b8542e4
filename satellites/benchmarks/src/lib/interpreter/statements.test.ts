import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PythonError } from '../python/error.ts'
import { str } from '../python/repr.ts'
import type { PythonValue } from '../python/value.ts'
import { BUILTINS } from './builtins.ts'
import { type Callable, Scope } from './objects.ts'
import { runPython } from './statements.ts'

const read = (name: string) => readFileSync(new URL(`recorded/${name}`, import.meta.url), 'utf8')

it('runs a program as Python does', () => {
  const lines: string[] = []
  const print: Callable = (given) => {
    const texts = given.map((one) => (one instanceof PythonError ? one.message : str(one as PythonValue)))
    lines.push(...texts.join(' ').split('\n'))
    return null
  }
  runPython(read('program.py'), new Scope(BUILTINS, [['print', print]]))
  expect(lines).toEqual(read('program.txt').trimEnd().split('\n'))
})

it('makes what a default makes anew for each call', () => {
  const scope = new Scope(BUILTINS)
  runPython('def add(item, to=[]):\n    to.append(item)\n    return to\n\nfirst = add(1)\nsecond = add(2)\n', scope)
  expect([scope.get('first'), scope.get('second')]).toEqual([[1], [2]])
})

it.each([
  ['a name that is nowhere', 'x = y\n', "name 'y' is not defined"],
  ['what it does not read', 'x = 1\nwith open("f") as f:\n    pass\n', 'The end of a line is expected at 11'],
  ['a field that is not there', 'x = "a".b\n', "'str' object has no attribute 'b'"],
  ['a format that is not reproduced', 'x = f"{1:>5}"\n', 'the format >5 is not reproduced'],
])('throws for %s', (_, source, message) => {
  expect(() => runPython(source, new Scope(BUILTINS))).toThrow(message)
})
