import type { Summary } from '@episodic/report'
import { formatCount, formatNumber, formatTick } from '@episodic/report'
import { drawBars, drawLine } from './marks.ts'
import { areaOf, drawPlot, HALF, rangesOf } from './plot-frame.ts'
import { extentOf, linearScale, niceDomain } from './scale.ts'
import { element, label, tip } from './svg.ts'

const RANGES = rangesOf(HALF)
const MOST_TERMS = 8
const MOST_NAME = 18

/** The mean reward of each step, unshaped and, if there is shaping, shaped. Bars show the episodes with that many steps. */
export function plotRewardByStep(steps: Summary['rewards']['byStep'], shaped: boolean): string {
  const values = steps.flatMap(({ total, unshaped }) => (shaped ? [total, unshaped] : [unshaped]))
  const x = linearScale([0.5, steps.length + 0.5], RANGES.x, Math.max(3, Math.min(10, steps.length)))
  const whole = Object.assign((value: number) => x(value), {
    domain: x.domain,
    ticks: x.ticks.filter((tick) => Number.isInteger(tick) && tick >= 1),
  })
  const y = linearScale(niceDomain(extentOf(values, { zero: true })), RANGES.y, 5)
  const reach = linearScale([0, steps[0]?.count ?? 1], RANGES.y)
  const line = (pick: (step: (typeof steps)[number]) => number, kind: string) =>
    drawLine(
      steps.map((step, i) => [i + 1, pick(step)]),
      x,
      y,
      kind,
    )
  const columns = steps.map(({ count, total, unshaped }, i) => ({
    from: i + 0.5,
    to: i + 1.5,
    value: count,
    tip: `step ${i + 1}: unshaped ${formatNumber(unshaped)}${shaped ? `, shaped ${formatNumber(total)}` : ''}, ${formatCount(count)} episodes`,
  }))
  return drawPlot(
    'Mean reward by step',
    HALF,
    { scale: whole, format: formatTick, label: 'step of the episode' },
    { scale: y, format: formatTick, label: 'mean reward' },
    drawBars(columns, x, reach, 'reach'),
    shaped ? line(({ total }) => total, 'shaped') : '',
    line(({ unshaped }) => unshaped, 'unshaped'),
  )
}

/** The mean of each term over an episode, largest first, and that of shaping. */
export function plotRewardByTerm(terms: Summary['rewards']['byTerm'], shaping: number | null): string {
  const rows = terms
    .map(({ name, mean }) => ({ name, mean, kind: 'unshaped' }))
    .sort((a, b) => Math.abs(b.mean) - Math.abs(a.mean))
    .slice(0, MOST_TERMS)
  if (shaping !== null) rows.push({ name: 'shaping', mean: shaping, kind: 'shaped' })
  const area = { ...areaOf(HALF), left: 150, right: HALF.width - 64 }
  const height = Math.min(52, (area.bottom - area.top) / Math.max(1, rows.length))
  const domain = extentOf(
    rows.map(({ mean }) => mean),
    { zero: true },
  )
  // A value is printed outside its bar: to the left of a negative one.
  const x = linearScale(domain, [area.left + (domain[0] < 0 ? 54 : 0), area.right], 4)
  const marks = rows.flatMap(({ name, mean, kind }, i) => {
    const y = area.top + i * height
    const [from, to] = [x(Math.min(0, mean)), x(Math.max(0, mean))]
    const short = name.length > MOST_NAME ? `${name.slice(0, MOST_NAME - 1).toWellFormed()}…` : name
    const outside = mean < 0 ? { 'text-anchor': 'end', dx: -6 } : { dx: 6 }
    return [
      label(area.left - 12, y + height / 2 + 4, short, { 'text-anchor': 'end', class: 'term' }),
      element(
        'rect',
        { class: kind, x: from, y: y + height * 0.22, width: Math.max(1, to - from), height: height * 0.56, rx: 2 },
        tip(`${name}: ${formatNumber(mean)}`),
      ),
      label(mean < 0 ? from : to, y + height / 2 + 4, formatNumber(mean), outside),
    ]
  })
  const ticks = x.ticks.flatMap((tick) => [
    element('line', { class: tick === 0 ? 'axis' : 'grid', x1: x(tick), x2: x(tick), y1: area.top, y2: area.bottom }),
    label(x(tick), area.bottom + 18, formatTick(tick), { 'text-anchor': 'middle' }),
  ])
  return element(
    'svg',
    { viewBox: `0 0 ${HALF.width} ${HALF.height}`, role: 'img', 'aria-label': 'Mean reward by term' },
    ...ticks,
    ...marks,
    label(area.right, HALF.height - 6, 'mean of an episode (reward)', { class: 'name', 'text-anchor': 'end' }),
  )
}
