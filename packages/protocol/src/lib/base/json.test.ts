import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { copyPlain, findNonJson, type JsonObject, jsonObjectSchema, jsonSchema, mapTexts, wellFormed } from './json.ts'

const anyJson = fc.jsonValue({ noUnicodeString: false, stringUnit: 'binary' })

describe('findNonJson', () => {
  it('finds nothing in what JSON gives back unchanged', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: false }), (value) => {
        if (findNonJson(value) === null) expect(JSON.parse(JSON.stringify(value))).toStrictEqual(value)
      }),
      { numRuns: 1_000 },
    )
    fc.assert(fc.property(anyJson, (value) => findNonJson(JSON.parse(JSON.stringify(value))) === null))
  })

  it.each([
    [undefined, '$ is undefined'],
    [{ a: [1, { b: undefined }] }, '$.a[1].b is undefined'],
    [{ a: Number.NaN }, '$.a is NaN'],
    [[Number.NEGATIVE_INFINITY], '$[0] is -Infinity'],
    [{ a: -0 }, '$.a is -0'],
    [{ at: new Date(0) }, '$.at is a Date'],
    [[new Map()], '$[0] is a Map'],
    [{ a: 1n }, '$.a is a bigint'],
    [{ a: Symbol('s') }, '$.a is a symbol'],
    [{ toJSON: () => 1 }, '$.toJSON is a function'],
    [new Array(1), '$[0] is undefined'],
    ['\ud800', '$ holds a lone surrogate'],
    [{ '\udc00': 1 }, '$ has a key with a lone surrogate'],
  ])('says where %o stops being JSON', (value, problem) => {
    expect(findNonJson(value)).toBe(problem)
  })
})

describe('jsonSchema', () => {
  it('accepts any JSON value and gives it back', () => {
    const anyPlain = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('__proto__'))
    fc.assert(
      fc.property(anyPlain, (value) => {
        expect(jsonSchema.parse(value)).toEqual(value)
      }),
    )
  })

  it('drops keys that would reach for the prototype', () => {
    const parsed = jsonSchema.parse(JSON.parse('{"a":1,"__proto__":{"b":2}}'))
    expect(JSON.stringify(parsed)).toBe('{"a":1}')
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
  })

  it.each([undefined, Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1])('refuses %s', (value) => {
    expect(jsonSchema.safeParse(value).success).toBe(false)
    expect(jsonSchema.safeParse({ a: [value] }).success).toBe(false)
  })
})

describe('jsonObjectSchema', () => {
  it('accepts objects alone', () => {
    const object: JsonObject = { a: [1, { b: null }] }
    expect(jsonObjectSchema.parse(object)).toEqual(object)
    for (const value of [[], null, 'text', 1]) expect(jsonObjectSchema.safeParse(value).success).toBe(false)
  })
})

describe('mapTexts', () => {
  it('changes every text of a JSON value, keys included, and nothing else', () => {
    const value = JSON.parse('{"a":["b",1,null,true,{"c":"d"}],"__proto__":"e"}')
    const changed = mapTexts(value, (text) => `${text}!`)
    expect(JSON.stringify(changed)).toBe('{"a!":["b!",1,null,true,{"c!":"d!"}],"__proto__!":"e!"}')
    expect(JSON.stringify(mapTexts(value, (text) => text))).toBe(JSON.stringify(value))
  })
})

describe('copyPlain', () => {
  it('returns an equal value that shares no object with the first', () => {
    const objectsOf = (value: unknown): object[] =>
      typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(objectsOf)] : []
    fc.assert(
      fc.property(anyJson, (value) => {
        fc.pre(!JSON.stringify(value).includes('__proto__'))
        const plain = JSON.parse(JSON.stringify(value))
        const copy = copyPlain(plain)
        expect(copy).toStrictEqual(plain)
        const own = new Set(objectsOf(copy))
        expect(objectsOf(plain).filter((object) => own.has(object))).toEqual([])
      }),
    )
  })

  it('keeps what is undefined, and drops a key that would set the prototype', () => {
    expect(copyPlain({ a: undefined, b: null })).toStrictEqual({ a: undefined, b: null })
    expect(copyPlain(JSON.parse('{"__proto__":{"a":1},"b":2}'))).toStrictEqual({ b: 2 })
  })
})

describe('wellFormed', () => {
  it('replaces each half of a surrogate pair, in keys too', () => {
    const value = { 'a\ud83d': ['\ude80b', { c: '🚀' }], d: [1, null, true] }
    expect(wellFormed(value)).toEqual({ 'a\ufffd': ['\ufffdb', { c: '🚀' }], d: [1, null, true] })
  })

  it('returns a value without any as it is', () => {
    const value = { a: ['🚀', { b: 'c', d: undefined }] }
    expect(wellFormed(value)).toBe(value)
  })
})
