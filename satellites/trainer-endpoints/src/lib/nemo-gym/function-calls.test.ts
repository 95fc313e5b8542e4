import { describe, expect, it } from 'vitest'
import { functionCallsOf } from './function-calls.ts'

describe('functionCallsOf', () => {
  it('reads the calls of a model, and no other item of its answer', () => {
    const output = [
      { type: 'reasoning', summary: [] },
      { type: 'function_call', call_id: 'a', name: 'guess', arguments: '{"value": 1}' },
      { type: 'function_call_output', call_id: 'a', output: '{}' },
      { type: 'function_call', call_id: 'b', name: 'look', arguments: '' },
      { type: 'function_call', call_id: 'c', name: 'guess', arguments: '[1]' },
      { type: 'function_call', call_id: 'd', name: 'guess', arguments: '{"value":' },
      { type: 'function_call' },
    ]
    const call = { isEmpty: false, output: null }
    expect(functionCallsOf(output)).toEqual([
      { ...call, callId: 'a', tool: 'guess', arguments: { value: 1 }, output: '{}' },
      { ...call, callId: 'b', tool: 'look', arguments: {}, isEmpty: true },
      { ...call, callId: 'c', tool: 'guess', arguments: null },
      { ...call, callId: 'd', tool: 'guess', arguments: null },
      { ...call, callId: '', tool: '', arguments: {}, isEmpty: true },
    ])
  })

  it('gives each call the output that follows it, also where a model uses an id again', () => {
    const call = (value: number) => ({
      type: 'function_call',
      call_id: 'same',
      name: 'guess',
      arguments: `{"value":${value}}`,
    })
    const output = (text: unknown) => ({ type: 'function_call_output', call_id: 'same', output: text })
    const items = [call(1), call(2), output('one'), output('two'), call(3), output([]), call(4)]
    expect(functionCallsOf(items).map(({ output }) => output)).toEqual(['one', 'two', null, null])
  })

  it('finds no arguments in what the endpoint does not take', () => {
    const deep = `{"a":${'['.repeat(100)}${']'.repeat(100)}}`
    const long = `{"a":[${'0,'.repeat(20_000)}0]}`
    const items = [deep, long].map((text) => ({ type: 'function_call', name: 'guess', arguments: text }))
    expect(functionCallsOf(items).map((call) => call.arguments)).toEqual([null, null])
  })
})
