import { createRng } from '@episodic/protocol'
import { detectableDifference, fewestTasks, leastAdjustedP } from '@episodic/report/compare/shown-differences'
import { noteFewTasks, notePlannedTasks } from '@episodic/report/notes/few-tasks'
import { describe, expect, it } from 'vitest'
import { adjustByHolm } from './holm.ts'
import { pairFigure } from './paired-figure.ts'
import { signFlipTest } from './sign-flip-test.ts'

describe('leastAdjustedP', () => {
  it('is the p-value of tasks that all differ in one direction, adjusted, and nothing smaller is possible', () => {
    for (const tests of [1, 2, 5, 23])
      for (const tasks of [1, 2, 5, 6, 9, 10, 12]) {
        const { p } = signFlipTest(new Array<number>(tasks).fill(1))
        expect(leastAdjustedP(tasks, tests)).toBeCloseTo(
          adjustByHolm(new Array<number>(tests).fill(p))[0] as number,
          12,
        )
      }
  })

  it('falls below 5 % with the fewest tasks that can show something', () => {
    expect([1, 2, 23, 500].map(fewestTasks)).toEqual([6, 7, 10, 15])
    for (let tests = 1; tests < 600; tests++) {
      expect(leastAdjustedP(fewestTasks(tests), tests)).toBeLessThan(0.05)
      expect(leastAdjustedP(fewestTasks(tests) - 1, tests)).toBeGreaterThanOrEqual(0.05)
    }
  })
})

describe('noteFewTasks', () => {
  it('says that tasks are too few, and how many are not', () => {
    expect(noteFewTasks(6, 24)).toBe(
      '6 tasks can show nothing among 24 players: p is at least 0.719 after the adjustment. 10 could.',
    )
    expect([noteFewTasks(10, 24), noteFewTasks(6, 2), noteFewTasks(3, 1)]).toEqual([null, null, null])
    expect(notePlannedTasks(100, 3)).toMatch(/^100 tasks show a difference in success of 22 points among 3 players/)
  })
})

describe('detectableDifference', () => {
  it('is shown in about four of five samples, among several tests of which the others show nothing', () => {
    const [tasks, tests, samples, spread] = [14, 5, 500, 1] as const
    const truth = detectableDifference({ standardError: spread / Math.sqrt(tasks), clusters: tasks }, tests) as number
    const rng = createRng('detectable after the adjustment')
    // The sum of twelve uniform draws is close to normal, with the variance 1.
    const draw = () => Array.from({ length: 12 }, () => rng.float()).reduce((sum, one) => sum + one, -6)
    const p = (shift: number) =>
      pairFigure(Array.from({ length: tasks }, () => [0, shift + spread * draw()] as const))?.p as number
    let shown = 0
    for (let sample = 0; sample < samples; sample++) {
      const values = [p(truth), ...Array.from({ length: tests - 1 }, () => p(0))]
      if ((adjustByHolm(values)[0] as number) < 0.05) shown += 1
    }
    expect(shown / samples).toBeGreaterThan(0.75)
    expect(shown / samples).toBeLessThan(0.85)
  })
})
