import type { ModelAnswer } from '@episodic/env'
import type { TimedAnswer } from '@episodic/models/record/answer-log'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attributeAnswers, type SeenStep } from './attribute-answers.ts'

function answer(text: string, ended: number, ...calls: [name: string, args: object][]): TimedAnswer {
  const written = calls.map(([name, args], i) => ({
    id: `${text}-${i}`,
    name,
    arguments: JSON.stringify(args),
    played: false,
  }))
  const counts = { model: 'm', promptTokens: 0, completionTokens: 0, cost: null }
  return { answer: { ...counts, text, ...(calls.length > 0 && { calls: written }) }, ended }
}

function step(seen: number, args: object = {}, tool = 'guess'): SeenStep {
  return { action: { tool, arguments: { ...args } }, seen }
}

const textsOf = (answers: readonly ModelAnswer[]) => answers.map(({ text }) => text)
const playedOf = (answers: readonly ModelAnswer[]) => answers.map(({ calls = [] }) => calls.map(({ played }) => played))

describe('attributeAnswers', () => {
  it('gives each answer to the step that was seen next, and the last ones to none', () => {
    const answers = [answer('plan', 1), answer('act', 2), answer('think', 5), answer('bye', 9)]
    const { steps, undecided } = attributeAnswers(answers, [step(3), step(4), step(6)])
    expect(steps.map(textsOf)).toEqual([['plan', 'act'], [], ['think']])
    expect(textsOf(undecided)).toEqual(['bye'])
  })

  it('marks the calls that were played, one after another, whatever the client calls the tool', () => {
    const parallel = answer('two', 1, ['mcp__world__guess', { value: 5 }], ['guess', { value: 6 }])
    const other = answer('other', 4, ['search', { value: 7 }], ['world.guess', { value: 7 }], ['guess', { value: 8 }])
    const played = [step(2, { value: 5, unit: 'm' }), step(3, { value: 6 }), step(5, { value: 7 })]
    const { steps } = attributeAnswers([parallel, other], played)
    expect(steps.map(textsOf)).toEqual([['two'], [], ['other']])
    expect(steps.map(playedOf)).toEqual([[[true, true]], [], [[false, true, false]]])
  })

  it('moves an answer by one step if it called that one, because times are late', () => {
    const late = [answer('a', 1, ['guess', { value: 1 }]), answer('b', 2, ['guess', { value: 2 }])]
    // The first step was seen after the answer to the second one.
    expect(attributeAnswers(late, [step(3, { value: 1 }), step(4, { value: 2 })]).steps.map(textsOf)).toEqual([
      ['a'],
      ['b'],
    ])
    // The stream of the first answer ended after its call was made.
    const slow = [answer('a', 2, ['guess', { value: 1 }]), answer('b', 3, ['guess', { value: 2 }])]
    expect(attributeAnswers(slow, [step(1, { value: 1 }), step(4, { value: 2 })]).steps.map(textsOf)).toEqual([
      ['a'],
      ['b'],
    ])
    // The only step was seen after the last words.
    const last = attributeAnswers([...late.slice(0, 1), answer('bye', 2)], [step(3, { value: 1 })])
    expect([last.steps.map(textsOf), textsOf(last.undecided)]).toEqual([[['a']], ['bye']])
    // The first answer was recorded after both of its calls.
    const after = [answer('a', 3, ['guess', { value: 1 }], ['guess', { value: 2 }]), answer('b', 4)]
    const { steps } = attributeAnswers(after, [step(1, { value: 1 }), step(2, { value: 2 }), step(5, { value: 3 })])
    expect(steps.map(textsOf)).toEqual([['a'], [], ['b']])
    expect(steps.map(playedOf)).toEqual([[[true, true]], [], [[]]])
  })

  it('gives words to the step that said them, however late it was seen', () => {
    const said = [answer('Hello.', 1), answer('Bye.', 2)]
    const steps = [step(3, { text: 'Hello.' }, 'say'), step(4, { text: 'Bye.' }, 'say')]
    expect(attributeAnswers(said, steps).steps.map(textsOf)).toEqual([['Hello.'], ['Bye.']])
  })

  it('keeps every answer once and in order, and says of no step that two calls played it', () => {
    const anyCall = fc.tuple(fc.constantFrom('guess', 'peek'), fc.record({ value: fc.integer({ min: 0, max: 2 }) }))
    const anyTime = fc.integer({ min: 0, max: 12 })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyTime, fc.array(anyCall, { maxLength: 3 })), { maxLength: 8 }),
        fc.array(fc.tuple(anyTime, anyCall), { maxLength: 8 }),
        (asked, played) => {
          const answers = asked
            .toSorted(([one], [other]) => one - other)
            .map(([ended, calls], i) => answer(`${i}`, ended, ...calls))
          const seen = played
            .toSorted(([one], [other]) => one - other)
            .map(([time, [tool, args]]) => step(time, args, tool))
          const { steps, undecided } = attributeAnswers(answers, seen)
          expect(steps).toHaveLength(seen.length)
          const all = [...steps.flat(), ...undecided]
          expect(textsOf(all)).toEqual(answers.map((_, i) => `${i}`))
          const marked = all.flatMap(({ calls = [] }) => calls.filter((call) => call.played))
          expect(marked.length).toBeLessThanOrEqual(seen.length)
        },
      ),
    )
  })
})
