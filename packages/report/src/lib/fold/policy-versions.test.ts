import type { Completion, EpisodeRecord } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { computeStaleness, policyVersionsOf } from './policy-versions.ts'
import { playRun } from './simulated-run.fixture.ts'

const [played] = playRun({ tasks: 1, attempts: 1, failures: 0 }) as [EpisodeRecord]
const answer: Completion = { model: 'served', promptTokens: 9, completionTokens: 2, cost: null, text: null }

/** An episode whose steps have an answer each that names these versions in turn; `null`: none. */
function answeredBy(versions: readonly (string | null)[], version?: string): EpisodeRecord {
  const completions = versions.map((policyVersion) => ({ ...answer, ...(policyVersion && { policyVersion }) }))
  const [step] = played.steps as [EpisodeRecord['steps'][number]]
  return {
    ...played,
    policy: { ...played.policy, ...(version !== undefined && { version }) },
    steps: completions.slice(0, -1).map((completion) => ({ ...step, completions: [completion] })),
    undecided: completions.slice(-1),
  }
}

describe('computeStaleness', () => {
  it.each([
    ['12', '15', 3],
    ['step-9', 'step-12', 3],
    ['step-12', 'step-9', -3],
    ['final', 'final', 0],
    ['step-1', 'epoch-2', null],
    ['first', 'second', null],
    ['9f3c', '9f3d', null],
  ])('from %s to %s: %s updates', (sampled, used, updates) => {
    expect(computeStaleness(sampled, used)).toBe(updates)
  })
})

describe('policyVersionsOf', () => {
  it('finds the oldest and the newest version of the answers, in any order', () => {
    expect(policyVersionsOf(answeredBy(['step-4', 'step-3', 'step-10']))).toEqual({
      oldest: 'step-3',
      newest: 'step-10',
    })
  })

  it('takes the version of the policy for an answer without one, and for an episode without an answer', () => {
    expect(policyVersionsOf(answeredBy([null, '7'], '5'))).toEqual({ oldest: '5', newest: '7' })
    expect(policyVersionsOf(answeredBy([], '5'))).toEqual({ oldest: '5', newest: '5' })
    expect(policyVersionsOf(answeredBy([null, null]))).toBeNull()
    expect(policyVersionsOf(played)).toBeNull()
  })
})
