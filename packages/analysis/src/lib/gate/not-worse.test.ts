import { describe, expect, it } from 'vitest'
import { pairFigure, SHARES } from '../compare/paired-figure.ts'
import { widen } from './not-worse.ts'

/** The figure of so many tasks with one attempt each, of which some are won and some are lost. */
function figureOf(tasks: number, won: number, lost: number) {
  const pairs = Array.from({ length: tasks }, (_, i): [number, number] =>
    i < won ? [0, 1] : i < won + lost ? [1, 0] : [1, 1],
  )
  const figure = pairFigure(pairs, SHARES)
  if (!figure) throw new Error('There is no task.')
  return figure
}

/** Its difference alone, in closed form: many are needed. */
function differenceOf(tasks: number, won: number, lost: number) {
  const mean = (won - lost) / tasks
  const variance = ((won + lost) / tasks - mean ** 2) * (tasks / (tasks - 1))
  const standardError = Math.sqrt(Math.max(0, variance) / tasks)
  return { mean, standardError, low: null, high: null, count: tasks, clusters: tasks }
}

/** The logarithms of the factorials up to `most`. */
function logFactorials(most: number): number[] {
  const logs = [0]
  for (let i = 1; i <= most; i++) logs.push((logs[i - 1] as number) + Math.log(i))
  return logs
}

/** How likely a run passes that is worse by exactly the margin: the sum over all numbers of won and lost tasks. */
function chanceToPass(
  tasks: number,
  { margin, gains }: { readonly margin: number; readonly gains: number },
  lowOf: (tasks: number, won: number, lost: number) => number,
): number {
  const logs = logFactorials(tasks)
  const power = (share: number, times: number) => (times === 0 ? 0 : times * Math.log(share))
  let passes = 0
  for (let won = 0; won <= tasks; won++)
    for (let lost = 0; won + lost <= tasks; lost++) {
      const same = tasks - won - lost
      const ways = [tasks, -won, -lost, -same].reduce((sum, n) => sum + Math.sign(n) * (logs[Math.abs(n)] as number), 0)
      const chance = Math.exp(
        ways + power(gains, won) + power(gains + margin, lost) + power(1 - 2 * gains - margin, same),
      )
      if (chance > 1e-12 && lowOf(tasks, won, lost) >= -margin) passes += chance
    }
  return passes
}

describe('widen', () => {
  const widened = (tasks: number, won: number, lost: number) =>
    widen({ difference: differenceOf(tasks, won, lost) }).low
  const plain = (tasks: number, won: number, lost: number) => {
    const { mean, low } = figureOf(tasks, won, lost).difference
    return low ?? mean
  }

  it.each([
    [20, 0.03],
    [40, 0.05],
    [80, 0.1],
    [80, 0.2],
  ])('lets at most 4 of 100 gates pass that should not: of %s tasks, with a margin of %s', (tasks, margin) => {
    for (const gains of [0, 0.01, 0.03, 0.1, 0.2]) {
      const chance = chanceToPass(tasks, { margin, gains }, widened)
      expect(chance).toBeLessThan(0.04)
    }
  })

  it('is needed: the interval of Student’s t alone lets half of them pass where hardly a task differs', () => {
    expect(differenceOf(20, 3, 5).standardError).toBeCloseTo(figureOf(20, 3, 5).difference.standardError as number, 12)
    expect(chanceToPass(20, { margin: 0.03, gains: 0 }, plain)).toBeGreaterThan(0.5)
  })

  it('has a width where no task differs, and is that of Student’s t where many do', () => {
    expect(widen(figureOf(40, 0, 0))).toMatchObject({ low: expect.closeTo(-0.093, 3), high: expect.closeTo(0.093, 3) })
    const many = figureOf(2_000, 300, 350)
    const { low, high } = widen(many)
    expect(low).toBeCloseTo(many.difference.low as number, 3)
    expect(high).toBeCloseTo(many.difference.high as number, 3)
  })

  it('says what the added tasks make of all differences, for one task and for several attempts', () => {
    const pairs: [number, number][] = [
      [0.25, 0.5],
      [0.75, 0.5],
      [1, 1],
      [0, 0.75],
    ]
    const figure = pairFigure(pairs, SHARES)
    const added: [number, number][] = [...pairs, [0, 1], [0, 1], [1, 0], [1, 0]]
    expect(widen(figure as NonNullable<typeof figure>)).toMatchObject({
      low: expect.closeTo(pairFigure(added)?.difference.low as number, 9),
      high: expect.closeTo(pairFigure(added)?.difference.high as number, 9),
    })
    expect(widen(figureOf(1, 1, 0)).low).toBeLessThan(-0.7)
  })
})
