import { describe, expect, it } from 'vitest'
import { functionCallsOf, isPlayedOnce } from './function-calls.ts'

const call = (value: number) => ({ callId: '', tool: 'guess', arguments: { value } })
const action = (value: number) => ({ tool: 'guess', arguments: { value } })

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
    expect(functionCallsOf(output)).toEqual([
      { callId: 'a', tool: 'guess', arguments: { value: 1 } },
      { callId: 'b', tool: 'look', arguments: {} },
      { callId: 'c', tool: 'guess', arguments: null },
      { callId: 'd', tool: 'guess', arguments: null },
      { callId: '', tool: '', arguments: {} },
    ])
  })
})

describe('isPlayedOnce', () => {
  it.each([
    ['the same', [1, 2], [1, 2], false, true],
    ['none', [], [], false, true],
    ['a call that was played twice', [1], [1, 1], false, false],
    ['a call that was not played', [1, 1], [1], false, false],
    ['a call after the end', [1, 2], [1], true, true],
    ['another order', [1, 2], [2, 1], true, false],
  ] as const)('compares a trajectory with the steps: %s', (_, sent, played, ended, expected) => {
    expect(isPlayedOnce(sent.map(call), played.map(action), ended)).toBe(expected)
  })

  it('leaves out calls whose arguments are no object, which no client sends', () => {
    expect(isPlayedOnce([{ ...call(1), arguments: null }, call(1)], [action(1)], false)).toBe(true)
  })
})
