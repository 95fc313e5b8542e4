import type { Completion, EpisodeRecord } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFold } from './fold.ts'
import { playRun } from './simulated-run.fixture.ts'
import { createTokenFold, totalTokens } from './token-fold.ts'

const asked = (promptTokens: number, cost: number | null = null): Completion => ({
  model: 'model',
  promptTokens,
  completionTokens: 1,
  cost,
  text: null,
})
const [played] = playRun({ tasks: 1, attempts: 1, failures: 0 }) as [EpisodeRecord]
const [step] = played.steps

/** An episode with such completions at each step, and some that led to no step. */
function episode(steps: readonly Completion[][], rest: Partial<EpisodeRecord> = {}): EpisodeRecord {
  return { ...played, steps: steps.map((completions) => ({ ...step!, completions })), ...rest }
}

function tokensOf(records: readonly EpisodeRecord[]) {
  const fold = createTokenFold()
  for (const record of records) fold.add(record)
  return fold.finish()
}

/** A leaf of a tree of four, forked in two after a step and again after two. */
function leaf(attempt: number, path: readonly number[], steps: readonly Completion[][], copies = 1): EpisodeRecord {
  const seeds = path.map((line) => (line === 0 ? null : `fresh ${line}`))
  const branch = { rollout: 0, leaves: 4, copies, path, at: [1, 2].slice(0, path.length), seeds }
  return episode(steps, { attempt, branch })
}

describe('createTokenFold', () => {
  it('sums requests, including those that led to no step', () => {
    const undecided = [asked(100, 0.5)]
    expect(tokensOf([episode([[asked(1, 0.25), asked(2, 0.25)], [asked(4, 0)]], { undecided }), played])).toEqual({
      episodes: 1,
      requests: 4,
      prompt: 107,
      completion: 4,
      cost: 1,
    })
  })

  it('is null without requests, and has no cost if a request has none', () => {
    expect(tokensOf([played])).toBeNull()
    expect(tokensOf([episode([[asked(1, 1), asked(1)]])])?.cost).toBeNull()
  })

  it('counts requests whose cost is not known, of answers without one and of requests without an answer', () => {
    const time = { milliseconds: 1, waited: 0 }
    const late = { status: null, code: 'timeout', milliseconds: 1 }
    const tries = [late, { status: 429, code: 'http', milliseconds: 1 }, { ...late, code: 'ECONNREFUSED' }]
    const lost = { ...asked(0), tries: [late, { ...late, code: 'incomplete' }] }
    const found = tokensOf([episode([[{ ...asked(5, 2), time, tries }, asked(3)]], { undecided: [lost] })])
    expect(found).toMatchObject({ requests: 3, cost: null, unpriced: { requests: 4, cost: 2 } })
    // A request without an answer has no tokens to count.
    expect(totalTokens(found)).toBe(11)
    expect(tokensOf([episode([[asked(5, 2)]])])).not.toHaveProperty('unpriced')
    // Without prices nothing is known.
    expect(tokensOf([episode([[asked(5)]], { undecided: [lost] })])).not.toHaveProperty('unpriced')
  })

  it('says how many requests a server counted, and has a total only if it counted all', () => {
    const whole = tokensOf([episode([[asked(1), asked(2)]])])
    expect(whole).not.toHaveProperty('counted')
    expect(totalTokens(whole)).toBe(5)
    const part = tokensOf([episode([[asked(1), asked(0)]])])
    expect(part).toMatchObject({ requests: 2, counted: 1 })
    expect([totalTokens(part), totalTokens(tokensOf([episode([[asked(0)]])])), totalTokens(null)]).toEqual([
      null,
      null,
      null,
    ])
  })

  it('counts how long answers took and what requests waited, apart from the steps of the world', () => {
    const timed = (milliseconds: number, waited: number) => ({ ...asked(1), time: { milliseconds, waited } })
    const steps = [[timed(200, 0), timed(400, 1_000)], [timed(100, 500.5)], [asked(1)]]
    const fold = createFold()
    fold.add(episode(steps, { undecided: [timed(8_000, 0)] }))
    const { time } = fold.finish({ name: 'test' })
    expect(time.model?.longest).toBe(8_000)
    expect(time.model?.bins.reduce((sum, { count }) => sum + count, 0)).toBe(4)
    // Within the width of a bucket, of the second of four.
    expect(time.model?.median).toBeGreaterThanOrEqual(200)
    expect(time.model?.median).toBeLessThan(200 * 1.008)
    expect(time.waited).toEqual({ milliseconds: 1_500.5, longest: 1_000, requests: 2 })
    expect(time.step?.longest).toBe(step?.milliseconds)
  })

  it('has no times of models where none was measured', () => {
    const fold = createFold()
    fold.add(episode([[asked(1)]]))
    expect(fold.finish({ name: 'test' }).time).toMatchObject({ model: null, waited: null })
  })

  it('counts answers with token ids, and those that go on with other tokens than were sampled', () => {
    const sampled = (promptTokenIds: number[], tokenIds: number[]) => ({ ...asked(1), promptTokenIds, tokenIds })
    const first = [sampled([1], [2, 3])]
    const [kept, drifted] = [sampled([1, 2, 3, 4], [5]), sampled([1, 23, 4], [5])]
    expect(tokensOf([episode([first, [kept]]), episode([first, [drifted], [asked(1)]])])?.traced).toEqual({
      requests: 4,
      drifted: 1,
    })
    expect(tokensOf([episode([[asked(1)]])])).not.toHaveProperty('traced')
    const leaves = [leaf(0, [0], [first, [kept]]), leaf(1, [1], [first, [drifted]])]
    expect(tokensOf(leaves)?.traced).toEqual({ requests: 3, drifted: 1 })
  })

  it('counts shared steps of a tree once', () => {
    const [a, b] = [[asked(1)], [asked(10)]]
    const leaves = [
      leaf(0, [0, 0], [a, b, [asked(100)]]),
      leaf(1, [0, 1], [a, b, [asked(1_000)]]),
      leaf(2, [1, 0], [a, [asked(10_000)], [asked(100_000)]]),
      leaf(3, [1, 1], [a, [asked(10_000)], [asked(1_000_000)]]),
    ]
    expect(tokensOf(leaves)).toMatchObject({ prompt: 1_111_111, requests: 7, episodes: 4 })
  })

  it('counts an episode once that ended before it could branch and was sealed for each leaf', () => {
    const early = [0, 1, 2, 3].map((attempt) => leaf(attempt, [], [[asked(1)]], 4))
    expect(tokensOf(early)).toMatchObject({ prompt: 1, requests: 1, episodes: 1 })
    const half = [2, 3].map((attempt) => leaf(attempt, [1], [[asked(1)], [asked(10)]], 2))
    expect(tokensOf(half)).toMatchObject({ prompt: 10, requests: 1, episodes: 1 })
  })

  it('is the same in a report for any order and for repeated lines', () => {
    const completion = fc.record({ tokens: fc.nat(1_000), cost: fc.double({ min: 0, max: 1, noNaN: true }) })
    const anySteps = fc.array(fc.array(completion, { maxLength: 3 }), { maxLength: 5 })
    const anyRun = fc.array(anySteps, { minLength: 1, maxLength: 8 }).chain((run) => {
      const records = run.map((steps, attempt) =>
        episode(
          steps.map((step) => step.map(({ tokens, cost }) => asked(tokens, cost))),
          { attempt },
        ),
      )
      const shuffled = fc.shuffledSubarray([...records, ...records], { minLength: 2 * records.length })
      return fc.tuple(fc.constant(records), shuffled)
    })
    fc.assert(
      fc.property(anyRun, ([records, shuffled]) => {
        const reported = [records, shuffled].map((some) => {
          const fold = createFold()
          for (const record of some) fold.add(record)
          return fold.finish({ name: 'test' }).tokens
        })
        expect(reported[1]).toEqual(reported[0])
        expect(reported[0]).toEqual(tokensOf(records))
      }),
    )
  })
})
