import type { Distribution, Histogram, Summary } from '@episodic/report'
import { formatCount, formatNumber, formatPercent, formatShareInterval, formatTick, roundTo } from '@episodic/report'
import { type Bar, drawBand, drawBars, drawLine, drawMarker, drawWhiskers } from './marks.ts'
import { type Axis, areaOf, drawPlot, HALF, rangesOf } from './plot-frame.ts'
import { linearScale, niceDomain } from './scale.ts'
import { element } from './svg.ts'

const RANGES = rangesOf(HALF)
const AREA = areaOf(HALF)

/** The histogram of returns, with the mean and its interval. */
export function plotReturns({ histogram, mean }: Distribution): string {
  const { start, width, counts } = histogram
  const end = start + width * counts.length
  const x = linearScale([start - width, end + width], RANGES.x, 8)
  const y = countAxis(counts, 'episodes')
  const bars = barsOf(histogram, (from, to) => `${formatTick(from)} up to ${formatTick(to)}`)
  const interval =
    mean.low === null || mean.high === null
      ? ''
      : element('rect', {
          class: 'interval',
          x: x(mean.low),
          width: Math.max(2, x(mean.high) - x(mean.low)),
          y: AREA.top,
          height: AREA.bottom - AREA.top,
        })
  return drawPlot(
    'Distribution of returns',
    HALF,
    { scale: x, format: formatTick, label: 'unshaped return of an episode (reward)' },
    y,
    interval,
    drawBars(bars, x, y.scale, 'unshaped'),
    drawMarker(x(mean.mean), `mean ${formatNumber(mean.mean)}`, AREA),
  )
}

/** The histogram of the steps of successful episodes. */
export function plotStepsToSuccess({ histogram, median }: Distribution): string {
  // Centers each bar on its whole number.
  const shifted = { ...histogram, start: histogram.start - 0.5 }
  const end = shifted.start + shifted.width * shifted.counts.length
  const x = linearScale([shifted.start - 0.2, end + 0.2], RANGES.x, 10)
  const whole = Object.assign((value: number) => x(value), {
    domain: x.domain,
    ticks: x.ticks.filter(Number.isInteger),
  })
  const y = countAxis(histogram.counts, 'successful episodes')
  const bars = barsOf(shifted, (from, to) =>
    to - from === 1 ? `${from + 0.5} steps` : `${from + 0.5} to ${to - 0.5} steps`,
  )
  return drawPlot(
    'Steps to success',
    HALF,
    { scale: whole, format: formatTick, label: 'steps' },
    y,
    drawBars(bars, x, y.scale, 'good'),
    drawMarker(x(median), `median ${formatTick(median)}`, AREA),
  )
}

/** The success rate in each tenth of difficulty. */
export function plotDifficulty(bins: Summary['success']['byDifficulty']): string {
  const x = linearScale([0, 1], RANGES.x, 10)
  const y = shareAxis('success rate')
  const points = bins.flatMap(({ from, to, rate, low, high, successes, count }) =>
    rate === null
      ? []
      : {
          at: (from + to) / 2,
          value: rate,
          low,
          high,
          tip: `difficulty ${from} to ${to}: ${formatCount(successes)} of ${formatCount(count)} succeeded, ${formatPercent(rate)}`,
        },
  )
  return drawPlot(
    'Success rate by difficulty',
    HALF,
    { scale: x, format: formatTick, label: 'difficulty of the task (0 easiest, 1 hardest)' },
    y,
    points.length > 1
      ? drawLine(
          points.map(({ at, value }) => [at, value]),
          x,
          y.scale,
          'good thin',
        )
      : '',
    drawWhiskers(points, x, y.scale, 'good'),
  )
}

/** The probability that at least one of k attempts succeeds. */
export function plotPassAtK(estimates: Summary['success']['passAtK']): string {
  const most = estimates.at(-1)?.k ?? 1
  const x = linearScale(
    [most === 1 ? 0 : 1, Math.max(2, most)],
    [RANGES.x[0] + 12, RANGES.x[1] - 12],
    Math.max(3, Math.min(10, most)),
  )
  const whole = Object.assign((value: number) => x(value), {
    domain: x.domain,
    ticks: x.ticks.filter((tick) => Number.isInteger(tick) && tick >= 1 && tick <= most),
  })
  const y = shareAxis('pass@k')
  const whiskers = estimates.map(({ k, mean, low, high, clusters }) => ({
    at: k,
    value: mean,
    low,
    high,
    tip: `pass@${k}: ${formatPercent(mean)} (${formatShareInterval({ low, high })}), ${formatCount(clusters)} tasks`,
  }))
  const band = estimates.flatMap(({ k, low, high }) => (low === null || high === null ? [] : { at: k, low, high }))
  return drawPlot(
    'pass@k',
    HALF,
    { scale: whole, format: formatTick, label: 'k (attempts)' },
    y,
    band.length > 1 ? drawBand(band, x, y.scale, 'unshaped') : '',
    drawLine(
      estimates.map(({ k, mean }) => [k, mean]),
      x,
      y.scale,
      'unshaped',
    ),
    most <= 20 ? drawWhiskers(whiskers, x, y.scale, 'unshaped') : '',
  )
}

function barsOf({ start, width, counts }: Histogram, name: (from: number, to: number) => string): Bar[] {
  return counts.map((value, i) => {
    const from = roundTo(start + i * width, width)
    const to = roundTo(start + (i + 1) * width, width)
    return { from, to, value, tip: `${name(from, to)}: ${formatCount(value)} episodes` }
  })
}

function countAxis(counts: readonly number[], name: string): Axis {
  const most = counts.reduce((a, b) => Math.max(a, b), 4)
  return { scale: linearScale(niceDomain([0, most], 4), RANGES.y, 4), format: formatTick, label: name }
}

function shareAxis(name: string): Axis {
  return { scale: linearScale([0, 1], RANGES.y, 5), format: (value) => `${Math.round(value * 100)} %`, label: name }
}
