import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { chooseTools } from './choose-tools.ts'

const warn = vi.spyOn(process, 'emitWarning')
beforeEach(() => void warn.mockReset().mockReturnValue())
afterEach(() => void warn.mockReset())

const listed = (name: string, inputSchema: object = { type: 'object', properties: {} }) => ({
  name,
  description: `${name}.`,
  inputSchema: inputSchema as never,
})
const names = (tools: ReturnType<typeof chooseTools>) => tools.map(({ ours }) => ours)

describe('chooseTools', () => {
  it.each([
    ['a/b', /name has letters/],
    ['two words', /name has letters/],
    ['größe', /name has letters/],
    ['cut \ufffd', /name has letters/],
    ['a'.repeat(129), /at most 128/],
    ['done', /there is a tool "done" already/],
    ['echo', /there is a tool "echo" already/],
  ])('leaves out the tool %j with a warning, and no other', (name, why) => {
    const tools = chooseTools('world', [listed('echo'), listed(name), listed('api.v1.list')], {})
    expect(names(tools)).toEqual(['echo', 'api.v1.list'])
    expect(warn.mock.calls).toEqual([[expect.stringMatching(why)]])
    expect(String(warn.mock.calls[0]?.[0])).toMatch(/rename/)
  })

  it('serves such a tool under another name, in the order of the server', () => {
    const tools = chooseTools('world', [listed('a/b'), listed('done'), listed('echo')], {
      rename: { 'a/b': 'a_b', done: 'finish' },
    })
    expect(names(tools)).toEqual(['a_b', 'finish', 'echo'])
    expect(warn).not.toHaveBeenCalled()
  })

  it('leaves out the tool whose name the author gave to another one', () => {
    const tools = chooseTools('world', [listed('echo'), listed('shout')], { rename: { shout: 'echo' } })
    expect(tools.map(({ theirs }) => theirs)).toEqual(['shout'])
    expect(warn).toHaveBeenCalledOnce()
  })

  it.each([
    [{ rename: { echo: 'done' } }, /calls the tool "echo" of its server "done", but there is a tool "done" already/],
    [{ rename: { echo: 'two words' } }, /"two words", but a name has letters/],
    [{ rename: { none: 'x' } }, /names the tool "none", and its server has: echo/],
  ])('throws for a choice of the author that cannot be: %j', (choice, message) => {
    expect(() => chooseTools('world', [listed('echo')], choice)).toThrow(message)
  })

  it.each([
    ['an id', { type: 'object', $id: 'http://x/y', $schema: 'http://json-schema.org/draft-07/schema#' }],
    ['a reference to itself', { type: 'object', $defs: { N: { properties: { next: { $ref: '#/$defs/N' } } } } }],
    ['nothing', {}],
    ['true', { properties: { any: true } }],
  ])('serves a tool whose schema has %s', (_what, schema) => {
    const [tool] = chooseTools('world', [listed('echo', schema)], {})
    const { id: _, ...same } = { id: '', ...schema }
    expect(z.toJSONSchema(tool!.input)).toMatchObject({ ...same, type: 'object' })
  })

  it.each([
    [{ minimum: 0, exclusiveMinimum: true }, { exclusiveMinimum: 0 }],
    [
      { minimum: 0, exclusiveMinimum: false, maximum: 9, exclusiveMaximum: true },
      { minimum: 0, exclusiveMaximum: 9 },
    ],
    [{ exclusiveMaximum: true }, {}],
    [
      { exclusiveMinimum: 1, maximum: 9 },
      { exclusiveMinimum: 1, maximum: 9 },
    ],
    [{ type: 'any', description: 'Anything.' }, { description: 'Anything.' }],
    [
      { properties: { a: { required: true, type: 'string' }, b: { required: false }, c: { required: ['d'] } } },
      { properties: { a: { type: 'string' }, b: {}, c: { required: ['d'] } }, required: ['a'] },
    ],
  ])('serves what older drafts say as MCP does: %j', (older, same) => {
    const schema = { $schema: 'http://json-schema.org/draft-04/schema#', id: 'http://x/y', properties: { n: older } }
    const nested = { type: 'object', properties: { list: { items: { anyOf: [older] } } } }
    for (const [written, served] of [
      [schema, { type: 'object', properties: { n: same } }],
      [nested, { type: 'object', properties: { list: { items: { anyOf: [same] } } } }],
    ] as const)
      expect(z.toJSONSchema(chooseTools('world', [listed('echo', written)], {})[0]!.input)).toEqual({
        $schema: expect.any(String),
        ...served,
      })
  })

  it('warns of a server without a tool', () => {
    expect(chooseTools('world', [], {})).toEqual([])
    expect(warn.mock.calls).toEqual([['world has no tool of its server, so its player can only call done.']])
  })
})
