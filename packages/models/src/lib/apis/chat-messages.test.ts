import type { JsonObject } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { chatMessages, chatTool } from './chat-messages.ts'

describe('chatMessages', () => {
  it('puts the turn of an assistant together, and answers to calls after it', () => {
    const call = (id: string, value: number) => ({
      type: 'function_call',
      call_id: id,
      name: 'guess',
      arguments: `{"value":${value}}`,
      id: `fc_${id}`,
    })
    const items: JsonObject[] = [
      { role: 'developer', content: 'Play.' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Find it.' }] },
      { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'Half of it.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Two at once.' }] },
      call('a', 5),
      call('b', 6),
      { type: 'function_call_output', call_id: 'a', output: 'Higher.' },
      { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'Higher.' }] },
      { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'x' },
      call('c', 7),
      { type: 'item_reference', id: 'm1' },
    ]
    const called = (id: string, value: number) => ({
      id,
      type: 'function',
      function: { name: 'guess', arguments: `{"value":${value}}` },
    })
    expect(chatMessages(items)).toEqual([
      { role: 'developer', content: 'Play.' },
      { role: 'user', content: 'Find it.' },
      {
        role: 'assistant',
        content: 'Two at once.',
        reasoning: 'Half of it.',
        tool_calls: [called('a', 5), called('b', 6)],
      },
      { role: 'tool', tool_call_id: 'a', content: 'Higher.' },
      { role: 'tool', tool_call_id: 'b', content: 'Higher.' },
      { role: 'assistant', content: null, tool_calls: [called('c', 7)] },
      { type: 'item_reference', id: 'm1' },
    ])
  })

  it('keeps parts that are no text', () => {
    const image = { type: 'input_image', image_url: 'data:,' }
    expect(chatMessages([{ role: 'user', content: [{ type: 'input_text', text: 'See:' }, image] }])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'See:' }, image] },
    ])
  })
})

describe('chatTool', () => {
  it('names the parts of a function, and leaves tools of the server as they are', () => {
    expect(chatTool({ type: 'function', name: 'guess', parameters: {} })).toEqual({
      type: 'function',
      function: { name: 'guess', parameters: {} },
    })
    expect(chatTool({ type: 'web_search' })).toEqual({ type: 'web_search' })
  })
})
