import type { Comparison } from '@episodic/report'
import { formatCount, formatPercent, formatSigned, formatTick } from '@episodic/report'
import { drawWhiskers } from '../report/plots/marks.ts'
import { areaOf, drawPlot, FULL, HALF, rangesOf } from '../report/plots/plot-frame.ts'
import { extentOf, linearScale, niceDomain } from '../report/plots/scale.ts'
import { element, label, tip } from '../report/plots/svg.ts'

/** The difference in return of every task, from the worst to the best, with the mean and its interval. */
export function plotByTask({ byTask, return: returned, tasks }: Comparison): string | null {
  if (!returned || byTask.length === 0) return null
  const { mean, low, high } = returned.difference
  const area = areaOf(FULL)
  const bounds = [low, high].filter((bound) => bound !== null)
  const values = [...byTask.map(({ difference }) => difference), mean, ...bounds]
  const x = linearScale([0.5, byTask.length + 0.5], rangesOf(FULL).x, 10)
  const places = Object.assign((value: number) => x(value), { domain: x.domain, ticks: [] })
  const y = linearScale(niceDomain(extentOf(values, { zero: true }), 4), rangesOf(FULL).y, 4)
  const bars = byTask.map(({ task, difference }, i) => {
    const [top, bottom] = [y(Math.max(0, difference)), y(Math.min(0, difference))]
    // A task without a difference is drawn as a hairline.
    const height = Math.max(1, bottom - top)
    const width = Math.max(0.5, x(i + 1.5) - x(i + 0.5) - (byTask.length > 200 ? 0 : 1))
    const kind = difference > 0 ? 'good' : difference < 0 ? 'bad' : 'pending'
    return element(
      'rect',
      { class: kind, x: x(i + 0.5), width, y: height > bottom - top ? top - 0.5 : top, height },
      tip(`${task}: ${formatSigned(difference)}`),
    )
  })
  const band =
    low === null || high === null
      ? ''
      : element('rect', {
          class: 'interval',
          x: area.left,
          width: area.right - area.left,
          y: y(high),
          height: Math.max(1, y(low) - y(high)),
        })
  return drawPlot(
    'Difference in return of each task',
    FULL,
    {
      scale: places,
      format: formatTick,
      label:
        byTask.length < tasks.compared
          ? `${formatCount(byTask.length)} of ${formatCount(tasks.compared)} tasks, evenly spaced, by difference`
          : 'tasks, by difference',
    },
    { scale: y, format: formatTick, label: 'return, B − A' },
    band,
    ...bars,
    element('line', { class: 'marker', x1: area.left, x2: area.right, y1: y(mean), y2: y(mean) }),
    label(area.left + 8, y(mean) - 6, `mean ${formatSigned(mean)}`, { class: 'note' }),
  )
}

/** The difference in success rate in each tenth of difficulty. */
export function plotByDifficulty({ byDifficulty }: Comparison): string | null {
  if (byDifficulty.length === 0) return null
  const x = linearScale([0, 1], rangesOf(HALF).x, 10)
  const values = byDifficulty.flatMap(({ mean, low, high }) => [mean, low ?? mean, high ?? mean])
  const y = linearScale(niceDomain(extentOf(values, { zero: true }), 5), rangesOf(HALF).y, 5)
  const points = byDifficulty.map(({ from, to, mean, low, high, count }) => ({
    at: (from + to) / 2,
    value: mean,
    low,
    high,
    tip: `difficulty ${from} to ${to}: ${formatPercent(mean)} over ${formatCount(count)} tasks`,
  }))
  return drawPlot(
    'Difference in success rate by difficulty',
    HALF,
    { scale: x, format: formatTick, label: 'difficulty of the task (0 easiest, 1 hardest)' },
    { scale: y, format: (value) => formatTick(Math.round(value * 100)), label: 'success, B − A (points)' },
    drawWhiskers(points, x, y, 'unshaped'),
  )
}
