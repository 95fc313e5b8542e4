import { describe, expect, it } from 'vitest'
import { readVolatile } from './volatile.ts'

const TOOLS = ['search', 'read', 'read.all', 'done']
const answer = (text: string, structured: object | null = null) => ({ text, structured, isError: false }) as never

describe('what is volatile', () => {
  it.each([
    ['search(id)', { id: 1, query: 'x' }, { id: 2, query: 'x' }],
    ['search(page.*.at)', { page: [{ at: 1, n: 1 }] }, { page: [{ at: 2, n: 1 }] }],
    ['*(id)', { id: 'a' }, {}],
  ])('%s: leaves fields of arguments out, and no others', (written, one, other) => {
    const { callKey } = readVolatile([written], TOOLS)
    expect(callKey('search', one as never)).toBe(callKey('search', other as never))
    expect(callKey('search', { ...one, more: 1 } as never)).not.toBe(callKey('search', other as never))
    expect(callKey('read', { ...one, id: 1 } as never) === callKey('read', { ...one, id: 2 } as never)).toBe(
      written.startsWith('*'),
    )
  })

  it.each([
    ['read.at', answer('', { at: 1, a: 1 }), answer('', { at: 2, a: 1 }), answer('', { at: 2, a: 2 })],
    ['read.items.*.at', answer('{"items":[{"at":1}]}'), answer('{ "items": [{ "at": 2 }] }'), answer('{"items":[]}')],
    ['read/took \\d+ ms/', answer('Done, took 3 ms.'), answer('Done, took 14 ms.'), answer('Did, took 3 ms.')],
  ])('%s: leaves parts of answers out, and no others', (written, one, same, different) => {
    const { answerKey } = readVolatile([written], TOOLS)
    expect(answerKey('read', one)).toBe(answerKey('read', same))
    expect(answerKey('read', one)).not.toBe(answerKey('read', different))
    expect(answerKey('read.all', one)).not.toBe(answerKey('read.all', same))
  })

  it('may be of a tool whose name begins with that of another', () => {
    const { answerKey } = readVolatile(['read.all.at'], TOOLS)
    expect(answerKey('read.all', answer('', { at: 1 }))).toBe(answerKey('read.all', answer('', { at: 2 })))
  })

  it.each([
    ['serch(id)', /has to begin with a tool, and there is: search, read/],
    ['search', /has to begin with a tool/],
    ['search/(/', /does not say what is volatile/],
    ['search/x', /Write search\(field\) for an argument/],
  ])('is not %s', (written, message) => {
    expect(() => readVolatile([written], TOOLS)).toThrow(message)
  })
})
