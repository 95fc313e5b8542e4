import { createRng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { createSequentialRate, type RateVerdict } from './sequential-rate.ts'

describe('a sequential test of a rate', () => {
  it('decides clear cases early, by the wealth of the bets', () => {
    // The mean of (1 + (i + ½)/400)^20 over 100 bets on success exceeds 20; that of the 19th power does not.
    expect(decisionOf(0.8, () => true)).toEqual(['above', 20])
    expect(decisionOf(0.8, () => false)).toEqual(['below', 3])
    expect(decisionOf(0.5, () => true)).toEqual(['above', 7])
    expect(decisionOf(0.5, () => false)).toEqual(['below', 7])
  })

  it('keeps its first decision', () => {
    const test = createSequentialRate(0.8)
    for (let i = 0; i < 3; i++) test.add(false)
    for (let i = 0; i < 100; i++) expect(test.add(true)).toBe('below')
  })

  it.each([0.1, 0.5, 0.8, 0.95])('errs on either side of %d no more often than its risk, even at it', (limit) => {
    const rng = createRng(`at-${limit}`)
    const counts: Record<RateVerdict, number> = { above: 0, below: 0, undecided: 0 }
    for (let trial = 0; trial < 400; trial++) counts[decisionOf(limit, () => rng.float() < limit)[0]] += 1
    expect(counts.above).toBeLessThanOrEqual(20)
    expect(counts.below).toBeLessThanOrEqual(20)
  })

  it('finds nearly every rate that is far from the limit', () => {
    const rng = createRng('far')
    const verdicts = Array.from({ length: 100 }, () => decisionOf(0.8, () => rng.float() < 0.5)[0])
    expect(verdicts.filter((verdict) => verdict === 'below').length).toBeGreaterThan(97)
  })
})

/** What is shown by at most 200 episodes, and after how many. */
function decisionOf(limit: number, play: () => boolean): readonly [RateVerdict, number] {
  const test = createSequentialRate(limit)
  for (let count = 1; count <= 200; count++) {
    const verdict = test.add(play())
    if (verdict !== 'undecided') return [verdict, count]
  }
  return ['undecided', 200]
}
