import type { LoggedStep } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import type { FunctionCall } from './function-calls.ts'
import { isPlayedOnce, type TrajectoryQuestion } from './played-once.ts'

const TOOLS = [
  {
    name: 'guess',
    description: 'Guess.',
    inputSchema: { type: 'object', properties: { value: { type: 'integer' }, note: { type: 'string' } } },
  },
] as unknown as TrajectoryQuestion['tools']

const call = (args: FunctionCall['arguments'], more: Partial<FunctionCall> = {}): FunctionCall => ({
  callId: '',
  tool: 'guess',
  arguments: args,
  isEmpty: false,
  output: null,
  ...more,
})
const step = (args: object, { tool = 'guess', refused = null as string | null, text = 'Wrong.' } = {}) =>
  ({
    action: { tool, arguments: args },
    observation: { text, structured: null },
    report: { refused },
  }) as unknown as LoggedStep

const ask = (question: Partial<TrajectoryQuestion>) =>
  isPlayedOnce({ calls: [], steps: [], tools: TOOLS, ended: false, incomplete: false, doubtful: false, ...question })
const askNumbers = (sent: readonly number[], played: readonly number[], ended: boolean) =>
  ask({ calls: sent.map((value) => call({ value })), steps: played.map((value) => step({ value })), ended })

describe('isPlayedOnce', () => {
  it.each([
    ['the same', [1, 2], [1, 2], false, true],
    ['none', [], [], false, true],
    ['a call that was played twice', [1], [1, 1], false, false],
    ['a call that was not played', [1, 1], [1], false, false],
    ['a call after the end', [1, 2], [1], true, true],
    ['another order', [1, 2], [2, 1], true, false],
  ] as const)('compares a trajectory with the steps: %s', (_, sent, played, ended, expected) => {
    expect(askNumbers(sent, played, ended)).toBe(expected)
  })

  it('leaves out calls whose arguments are no object, which no client sends', () => {
    expect(ask({ calls: [call(null), call({ value: 1 })], steps: [step({ value: 1 })] })).toBe(true)
  })

  it('takes a call of a tool that does not exist as the step that refused it, or as none if no message was lost', () => {
    const calls = [call({ value: 1 }, { tool: 'verify' }), call({ value: 2 })]
    const refused = step({}, { tool: 'verif', refused: 'tool' })
    for (const doubtful of [false, true]) {
      expect(ask({ calls, steps: [refused, step({ value: 2 })], doubtful })).toBe(true)
      expect(ask({ calls, steps: [step({ value: 2 })], doubtful })).toBe(!doubtful)
    }
  })

  it('compares what the model was shown, where messages may have been lost', () => {
    const calls = [call({ value: 1 }, { output: 'Right.' })]
    expect(ask({ calls, steps: [step({ value: 1 })] })).toBe(true)
    expect(ask({ calls, steps: [step({ value: 1 })], doubtful: true })).toBe(false)
    expect(ask({ calls, steps: [step({ value: 1 }, { text: 'Right.' })], doubtful: true })).toBe(true)
  })
})
