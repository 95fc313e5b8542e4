import type { JsonObject } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { ToolHeaders } from './tool-headers.ts'

const tool = (name: string, inputSchema: JsonObject): JsonObject => ({ name, inputSchema })
const asking = (header: unknown, type = 'string') =>
  tool('t', { type: 'object', properties: { a: { type, 'x-mcp-header': header } as JsonObject } })

describe('ToolHeaders', () => {
  it('repeats the arguments that a tool asks for, wherever they stand', () => {
    const headers = new ToolHeaders()
    const properties = {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
      deep: { type: 'object', properties: { on: { type: 'boolean', 'x-mcp-header': 'On' } } },
      plain: { type: 'string', default: { 'x-mcp-header': 'no schema' } },
    }
    expect(headers.keep([tool('t', { type: 'object', properties })])).toHaveLength(1)
    expect(headers.for('t', { region: 'größe', count: 7, deep: { on: false }, plain: 'x' })).toEqual({
      'mcp-param-Region': '=?base64?Z3LDtsOfZQ==?=',
      'mcp-param-Count': '7',
      'mcp-param-On': 'false',
    })
    expect(headers.for('t', { region: null, deep: null })).toEqual({})
    expect(headers.for('t', undefined)).toEqual({})
    expect(headers.for('another', { region: 'x' })).toEqual({})
  })

  it.each<[string, JsonObject]>([
    ['with no name', asking('')],
    ['with a name that no header can have', asking('a b')],
    ['with what is no name', asking(5)],
    ['for an object', asking('A', 'object')],
    ['for a fraction', asking('A', 'number')],
    ['for all arguments', tool('t', { type: 'object', 'x-mcp-header': 'A' })],
    ['inside of a list', tool('t', { properties: { a: { items: { type: 'string', 'x-mcp-header': 'A' } } } })],
    [
      'twice for one name',
      tool('t', {
        properties: { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } },
      }),
    ],
  ])('leaves out a tool that asks %s', (_, wrong) => {
    const right = tool('right', { type: 'object' })
    expect(new ToolHeaders().keep([wrong, right])).toEqual([right])
  })
})
