import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createInspect } from './inspect.ts'

const own = createInspect()

class Point {
  readonly x = 1
}
class Stack extends Array {}
const circular: Record<string, unknown> = { name: 'a' }
circular.self = circular

describe('inspect', () => {
  it.each([
    [[-0, Number.NaN, 10n, Symbol('x'), null, undefined, true]],
    [["it's", 'a "b"', `"it's"`, 'two\nlines', '\\', 'é']],
    [[() => 1, function named() {}, class K {}, class L extends Point {}, async () => {}, function* g() {}]],
    [
      {
        'b-c': 1,
        9: 2,
        [Symbol('s')]: 3,
        get a() {
          return 1
        },
      },
    ],
    [[new Point(), Stack.from([1, 2]), Object.create(null), /a/g, new Date(0), new Date(Number.NaN)]],
    [
      new Map<unknown, unknown>([
        ['k', { v: [1] }],
        [{}, new Set([1, 'x'])],
      ]),
    ],
    [Object.assign(new Array(5), { 0: 1, 2: 3 })],
    [Object.assign([1], { k: 1 })],
    [{ a: { b: { c: { d: 1 }, e: [], f: {}, g: [1] } } }],
    [circular],
    [new Uint8Array(20)],
    [Array.from({ length: 130 }, (_, i) => i * i)],
    [Array.from({ length: 30 }, (_, i) => 'w'.repeat(i % 11))],
  ])('prints as Node does (%#)', (value) => {
    expect(own(value)).toBe(inspect(value))
  })

  it('prints any JSON as Node does', () => {
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium' },
        fc.oneof(fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.string({ maxLength: 30 })),
        fc.array(tie('value'), { maxLength: 12 }),
        fc.array(fc.nat(99_999), { maxLength: 120 }),
        fc.dictionary(fc.string({ minLength: 1, maxLength: 12 }), tie('value'), { maxKeys: 7 }),
      ),
    })).value
    fc.assert(
      fc.property(values, (value) => own(value) === inspect(value)),
      { seed: 7, numRuns: 500 },
    )
  })
})
