import { describe, expect, it } from 'vitest'
import { graders } from './graders.ts'

/** What the grader says about an agent that says these sentences. */
function judge(...said: string[]) {
  // Only the steps: the grader looks at nothing else.
  const steps = said.map((text) => ({
    action: { tool: 'say', arguments: { text } },
    observation: { text: 'Said.', structured: null },
    refused: null,
    events: [],
  }))
  return graders.polite.grade({ steps } as never)
}

describe('polite', () => {
  it('needs a courteous word, and no rude one', () => {
    expect(judge('Please turn it on.', 'Does it work?')).toEqual({
      value: true,
      why: 'The agent is courteous.',
      evidence: [{ step: 0, quote: 'Please turn it on.' }],
    })
    expect(judge('Turn it on.')).toMatchObject({ value: false, why: 'The agent says no courteous word.' })
    expect(judge('Please turn it on.', 'Are you stupid?')).toMatchObject({
      value: false,
      evidence: [{ step: 1, quote: 'Are you stupid?' }],
    })
  })

  it('is undecided about an agent that says nothing', () => {
    expect(judge()).toMatchObject({ value: null })
  })
})
