import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseParams } from '../wire/parse-params.ts'
import { findUnknownKeys, formatUnknownKeys } from './unknown-keys.ts'

const pathsOf = (schema: z.ZodType, value: unknown) => findUnknownKeys(schema, value).map(({ path }) => path.join('.'))
const board = z.object({ width: z.int().default(3), start: z.object({ row: z.int() }).optional() })

describe('findUnknownKeys', () => {
  it.each([
    ['a key of the top', board, { wdith: 4 }, ['wdith']],
    ['a nested key', board, { start: { row: 1, col: 2 } }, ['start.col']],
    ['keys of list items', z.object({ boards: z.array(board) }), { boards: [{}, { a: 1 }] }, ['boards.1.a']],
    [
      'keys of a tuple',
      z.object({ pair: z.tuple([board], board) }),
      { pair: [{ a: 1 }, { b: 1 }] },
      ['pair.0.a', 'pair.1.b'],
    ],
    ['keys of a record', z.record(z.string(), board), { any: { a: 1 } }, ['any.a']],
    ['a key behind a default', z.object({ board: board.prefault({}) }), { board: { a: 1 } }, ['board.a']],
    ['a key before a transform', board.transform(String), { a: 1 }, ['a']],
    ['a key of a strict object', z.strictObject({}), { a: 1 }, ['a']],
    [
      'a key of the chosen option',
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('a'), x: z.int() }),
        z.object({ kind: z.literal('b') }),
      ]),
      { kind: 'b', x: 1 },
      ['x'],
    ],
    ['a key that neither part has', z.intersection(board, z.object({ more: z.int() })), { more: 1, a: 1 }, ['a']],
    ['a key of the prototype', board, JSON.parse('{"__proto__":{}}'), ['__proto__']],
  ])('finds %s', (_, schema, value, expected) => {
    expect(pathsOf(schema, value)).toEqual(expected)
  })

  it.each([
    ['every key that is declared', board, { width: 1, start: { row: 2 } }],
    ['an object that keeps other keys', z.looseObject({}), { a: { b: 1 } }],
    ['an object with a catch-all', z.object({}).catchall(z.int()), { a: 1 }],
    ['any JSON', z.object({ any: z.json(), all: z.unknown() }), { any: { a: 1 }, all: { b: 1 } }],
    ['a value of another type', board, { start: [1] }],
    ['no object', board, 'text'],
  ])('finds none in %s', (_, schema, value) => {
    expect(pathsOf(schema, value)).toEqual([])
  })
})

describe('parseParams', () => {
  const parse = (given: object) => parseParams({ name: 'board', params: board }, given as never)

  it('fills in defaults', () => {
    expect(parse({})).toEqual({ width: 3 })
  })

  it('names the parameter that is not known, the one that may be meant, and those that there are', () => {
    expect(() => parse({ wdith: 4 })).toThrow(
      'Unknown parameters of board: There is no "wdith". Did you mean "width"? There is: width, start.',
    )
    expect(() => parse({ start: { rwo: 1 } })).toThrow(
      'There is no "start.rwo". Did you mean "start.row"? There is: row.',
    )
    expect(() => parse({ completely: 1 })).toThrow('There is no "completely". There is: width, start.')
    expect(() => parse({ wdith: 4 })).toThrow(expect.objectContaining({ code: 'invalid-params' }))
  })

  it('says no more than fits', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`${'x'.repeat(1_000)}${i}`, 1]))
    expect(formatUnknownKeys(findUnknownKeys(board, many)).length).toBeLessThanOrEqual(1_001)
  })
})
