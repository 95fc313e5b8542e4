import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { playRun } from '../fold/simulated-run.fixture.ts'
import { findInRecord } from './find-in-record.ts'

const [record] = playRun({ tasks: 1, attempts: 1, failures: 0 }) as [ReturnType<typeof playRun>[number]]
const [step] = record.steps as [(typeof record.steps)[number]]
const completion = {
  model: 'm',
  promptTokens: 1,
  completionTokens: 1,
  cost: null,
  text: 'I say Quince.',
  reasoning: 'I think quince.',
  calls: [{ id: 'a', name: 'guess', arguments: '{"word":"quince"}', played: false }],
}
const answered = {
  ...record,
  task: { ...record.task, prompt: 'Find the QUINCE.' },
  steps: [{ ...step, observation: { text: 'no quince', structured: null }, completions: [completion] }],
  outcome: { kind: 'failed', error: { code: 'lost', message: 'quince lost' } },
  returns: null,
} as typeof record

describe('findInRecord', () => {
  it('finds a text in every field, with its step, in upper and lower case', () => {
    const found = [...findInRecord(answered, 'quince')].map(({ field, step: at, match }) => [field, at, match])
    expect(found).toEqual([
      ['prompt', null, 'QUINCE'],
      ['reasoning', 0, 'quince'],
      ['text', 0, 'Quince'],
      ['call', 0, 'quince'],
      ['answer', 0, 'quince'],
      ['failure', null, 'quince'],
    ])
    expect([...findInRecord(answered, 'quince', ['text'])].map(({ before, after }) => [before, after])).toEqual([
      ['I say ', '.'],
    ])
    expect([...findInRecord(answered, '')]).toEqual([])
  })

  it('takes every text literally', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (text) => {
        const said = { ...answered, task: { ...answered.task, prompt: `before ${text} after` } }
        expect([...findInRecord(said, text, ['prompt'])].map(({ match }) => match)).toContain(text)
      }),
    )
    expect([...findInRecord(answered, 'qu.nce')]).toEqual([])
  })
})
