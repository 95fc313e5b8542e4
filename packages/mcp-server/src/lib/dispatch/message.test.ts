import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MESSAGE_BOUNDS, parseBounded } from './json-bounds.ts'
import { PROTOCOL_VERSIONS, readMessage } from './message.ts'

/** Makes any text long enough to be looked over. */
const PADDING = ' '.repeat(5_000)

/** The text of a request with these parameters, as text. */
const request = (params: string) => `${PADDING}{"jsonrpc":"2.0","id":1,"method":"ping","params":${params}}`

const parse = (text: string) => readMessage(parseBounded(text, 'message', MESSAGE_BOUNDS))

describe('the text of a message', () => {
  it('parses any JSON, with brackets and quotes in strings', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 6 }),
        fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', ',', 'é') }),
        (json, tricky) => {
          const text = `{"a":${JSON.stringify(tricky.repeat(50))},"b":${json}}`
          expect(parse(request(text)).params).toEqual(JSON.parse(text))
        },
      ),
    )
  })

  it('rejects a message that nests too deep or has too many values, in any part', () => {
    for (const text of [
      `{"a":"]]]]]]]]]","b":${'['.repeat(80)}${']'.repeat(80)}}`,
      `[${'[],'.repeat(10_100)}0]`,
      `{"a":"\\\\","b":[${'0,'.repeat(10_100)}0]}`,
    ])
      expect(() => parse(PADDING + text)).toThrow(expect.objectContaining({ code: 'invalid-request' }))
    expect(parse(request(`{"a":[${'0,'.repeat(9_000)}0]}`))).toMatchObject({ problem: null })
    expect(parse(request(`{"a":${'['.repeat(63)}${']'.repeat(63)}}`))).toMatchObject({ problem: null })
  })

  it('says what is wrong with a message, and under which id to answer', () => {
    const read = (value: object) => {
      const { id, problem } = parse(JSON.stringify(value))
      return [id, problem?.code ?? null]
    }
    expect(read({ jsonrpc: '2.0', id: 7, method: 'ping' })).toEqual([7, null])
    expect(read({ jsonrpc: '2.0', method: 'ping', params: 1 })).toEqual([undefined, null])
    expect(read({ jsonrpc: '2.0', id: 7, method: 'ping', params: [] })).toEqual([7, 'invalid-params'])
    expect(read({ jsonrpc: '2.0', id: 7, method: 'ping', params: { a: '\ud800' } })).toEqual([7, 'invalid-params'])
    expect(read({ jsonrpc: '2.0', id: {}, method: 'ping' })).toEqual([null, 'invalid-request'])
    expect(read({ jsonrpc: '2.0', id: 'x'.repeat(257), method: 'ping' })).toEqual([null, 'invalid-request'])
    expect(read({ jsonrpc: '1.0', id: 7, method: 'ping' })).toEqual([7, 'invalid-request'])
    expect(read({ jsonrpc: '2.0', id: 7 })).toEqual([null, 'invalid-request'])
    expect(read([])).toEqual([null, 'invalid-request'])
  })

  it('says that text is not JSON, long or short', () => {
    for (const text of ['', 'x', '"', `${PADDING}"`, `${PADDING}[1,`, `${PADDING}"\\`])
      expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'parse-error' }))
  })
})

it('negotiates the session-based versions that the SDK negotiates', () => {
  expect(PROTOCOL_VERSIONS).toEqual(SUPPORTED_PROTOCOL_VERSIONS)
})
