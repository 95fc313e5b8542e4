import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findNonJson, type JsonObject, jsonObjectSchema, jsonSchema, mapTexts } from './json.ts'

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
