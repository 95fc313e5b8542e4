import type { Latency, Summary } from '@episodic/report'
import { formatCount, formatDuration, formatTick } from '@episodic/report'
import { drawBars, drawMarker } from './marks.ts'
import { areaOf, drawPlot, FULL, HALF, rangesOf } from './plot-frame.ts'
import { linearScale, logScale, niceDomain } from './scale.ts'
import { element, pathOf } from './svg.ts'

/**
 * A histogram of latencies on a logarithmic axis, with percentiles.
 *
 * @param counted - what is counted, in the plural.
 */
export function plotLatency({ median, p90, p99, bins }: Latency, title: string, counted: string): string {
  const [low, high] = [bins[0]?.from ?? 0.1, bins.at(-1)?.to ?? 1]
  const x = logScale([low / 1.2, high * 1.2], rangesOf(HALF).x)
  const most = bins.reduce((max, { count }) => Math.max(max, count), 4)
  const y = linearScale(niceDomain([0, most], 4), rangesOf(HALF).y, 4)
  const bars = bins.map(({ from, to, count }) => ({
    from,
    to,
    value: count,
    tip: `${formatDuration(from)} to ${formatDuration(to)}: ${formatCount(count)} ${counted}`,
  }))
  const marks = [
    ['p50', median],
    ['p90', p90],
    ['p99', p99],
  ] as const
  return drawPlot(
    title,
    HALF,
    { scale: x, format: formatDurationTick, label: 'time (logarithmic)' },
    { scale: y, format: formatTick, label: counted },
    drawBars(bars, x, y, 'time'),
    ...marks.map(([name, value], row) => drawMarker(x(Math.max(value, low)), name, areaOf(HALF), row)),
  )
}

/** The episodes in flight over the run. */
export function plotConcurrency({
  binMilliseconds,
  inFlight,
  peak,
}: NonNullable<Summary['time']['concurrency']>): string {
  const unit = unitOf(binMilliseconds * inFlight.length)
  const x = linearScale([0, (binMilliseconds * inFlight.length) / unit.milliseconds], rangesOf(FULL).x, 10)
  const y = linearScale(niceDomain([0, peak], 4), rangesOf(FULL).y, 4)
  const edges = inFlight.flatMap((mean, bin) =>
    [bin, bin + 1].map((edge) => [x((edge * binMilliseconds) / unit.milliseconds), y(mean)] as const),
  )
  const outline = pathOf(edges)
  const area = areaOf(FULL)
  return drawPlot(
    'Episodes in flight',
    FULL,
    { scale: x, format: formatTick, label: `since the start of the first episode (${unit.name})` },
    { scale: y, format: formatTick, label: 'episodes in flight (mean of a bin)' },
    element('path', { class: 'time band', d: `${outline}L${area.right} ${area.bottom}L${area.left} ${area.bottom}Z` }),
    element('g', { class: 'time' }, element('path', { class: 'line', d: outline })),
  )
}

function unitOf(milliseconds: number): { readonly name: string; readonly milliseconds: number } {
  if (milliseconds < 2_000) return { name: 'milliseconds', milliseconds: 1 }
  if (milliseconds < 300_000) return { name: 'seconds', milliseconds: 1_000 }
  if (milliseconds < 18_000_000) return { name: 'minutes', milliseconds: 60_000 }
  return { name: 'hours', milliseconds: 3_600_000 }
}

function formatDurationTick(milliseconds: number): string {
  if (milliseconds < 1) return `${formatTick(milliseconds * 1_000)} µs`
  return milliseconds < 1_000 ? `${formatTick(milliseconds)} ms` : `${formatTick(milliseconds / 1_000)} s`
}
