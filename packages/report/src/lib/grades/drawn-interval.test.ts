import { createRng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { clusteredMean } from '../fold/statistics.ts'
import { drawnIntervals } from './drawn-interval.ts'

const meanOf = ([sum = 0, count = 0]: Float64Array) => sum / count

describe('drawnIntervals', () => {
  it.each([40, 400, 3_000])('are those of a mean that Student’s t gives, for %i tasks', (count) => {
    const rng = createRng('values')
    const values = Array.from({ length: count }, () => rng.float())
    const [drawn] = drawnIntervals(
      values.map((value) => [value, 1]),
      [meanOf],
    )
    const exact = clusteredMean(values, [...values.keys()])!
    const width = (exact.high as number) - (exact.low as number)
    expect(Math.abs((drawn!.low as number) - (exact.low as number))).toBeLessThan(0.06 * width)
    expect(Math.abs((drawn!.high as number) - (exact.high as number))).toBeLessThan(0.06 * width)
  })

  it('are none of one task, or of a statistic that most draws do not define', () => {
    const none = { low: null, high: null }
    expect(drawnIntervals([[1, 1]], [meanOf])).toEqual([none])
    const tasks = Array.from({ length: 20 }, (_, i) => [Number(i === 0), 1])
    const [onlyWith, often] = drawnIntervals(tasks, [
      ([sum = 0]) => (sum > 1 ? sum : null),
      ([sum = 0]) => (sum > 0 ? sum : null),
    ])
    expect(onlyWith).toEqual(none)
    expect(often).toEqual({ low: 1, high: 3 })
  })

  it('are the same again, whatever was drawn in between', () => {
    const tasks = (count: number) => Array.from({ length: count }, (_, i) => [i % 3, 1])
    const before = drawnIntervals(tasks(30), [meanOf])
    drawnIntervals(tasks(31), [meanOf])
    expect(drawnIntervals(tasks(30), [meanOf])).toEqual(before)
  })
})
