import { describe, expect, it } from 'vitest'
import { readCall, readConstant, readLiteral } from './expression.ts'
import { repr } from './repr.ts'

describe('readLiteral', () => {
  // On the right is what Python 3 prints for `repr(eval(…))`.
  it.each([
    ['[1, 1.0, -2.5e3, 1_000, .5, 3.]', '[1, 1.0, -2500.0, 1000, 0.5, 3.0]'],
    ['12345678901234567890', '12345678901234567890'],
    [String.raw`'a\'b\n\x41\u00e9\U0001F600\q'`, String.raw`"a'b\nAé😀\\q"`],
    [String.raw`r'a\n' "b" """c"d"""`, String.raw`'a\\nbc"d'`],
    ['(1, (2,), (3), ())', '(1, (2,), 3, ())'],
    ["{'b': 1, '10': [None, True], 'a': {}, 2: ...,}", "{'b': 1, '10': [None, True], 'a': {}, 2: Ellipsis}"],
    ['[1, # one\n  set(),\n]', '[1, []]'],
  ])('reads %s', (source, printed) => {
    expect(repr(readLiteral(source))).toBe(printed)
  })

  it('reads JSON, and keeps its floats and the order of its keys', () => {
    expect(repr(readLiteral('{"2": 1.0, "1": [true, null, "\\u00e9\\/"]}'))).toBe("{'2': 1.0, '1': [True, None, 'é/']}")
  })

  it('throws for what is no literal', () => {
    expect(() => readLiteral('[1, open("x")]')).toThrow('A literal is expected at 8')
    expect(() => readLiteral("'open")).toThrow(SyntaxError)
    expect(() => readLiteral('[1 2]')).toThrow('] is expected')
  })
})

describe('readConstant', () => {
  it('reads what a name is bound to', () => {
    expect(readConstant('A = 1\nrates: Dict[str, int] = {"a": 7}\n', 'rates')).toEqual({ a: 7 })
    expect(() => readConstant('A = 1', 'B')).toThrow('bound to B')
  })
})

describe('readCall', () => {
  it('reads a call with literals', () => {
    expect(readCall("place_order('AAPL', amount = 5, tags=['#a=b',], price=2.0)")).toEqual({
      name: 'place_order',
      positional: ['AAPL'],
      named: { amount: 5, tags: ['#a=b'], price: { $float: '2.0' } },
    })
    expect(readCall('ls()')).toEqual({ name: 'ls', positional: [], named: {} })
  })

  it('throws for more than one call', () => {
    expect(() => readCall('ls() + ls()')).toThrow('The end is expected')
    expect(() => readCall('1')).toThrow('A name is expected')
  })
})
