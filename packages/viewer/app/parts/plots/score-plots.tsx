import { roundTo } from '@episodic/report/fold/histogram'
import type { Distribution, Histogram, Summary } from '@episodic/report/fold/summary'
import { shortVoids } from '@episodic/report/notes/void-notes'
import { formatCount, formatNumber, formatPercent, formatShareInterval, formatTick } from '@episodic/report/text/format'
import { Band, type Bar, Bars, Line, Marker, Whiskers } from './marks.tsx'
import { type Axis, areaOf, HALF, Plot, rangesOf } from './plot-frame.tsx'
import { linearScale, niceDomain, pixels, wholeTicks } from './scale.ts'

const RANGES = rangesOf(HALF)
const AREA = areaOf(HALF)

export function ReturnsPlot({ distribution: { histogram, mean } }: { readonly distribution: Distribution }) {
  const { start, width, counts } = histogram
  const end = start + width * counts.length
  const x = linearScale([start - width, end + width], RANGES.x, 8)
  const y = countAxis(counts, 'episodes')
  const bars = barsOf(histogram, (from, to) => `${formatTick(from)} up to ${formatTick(to)}`)
  return (
    <Plot
      title="Distribution of returns"
      x={{ scale: x, format: formatTick, label: 'unshaped return of an episode (reward)' }}
      y={y}
      table={barsTable('Return', bars)}
    >
      {mean.low !== null && mean.high !== null && (
        <rect
          class="interval"
          x={x(mean.low)}
          width={pixels(Math.max(2, x(mean.high) - x(mean.low)))}
          y={AREA.top}
          height={AREA.bottom - AREA.top}
        />
      )}
      <Bars bars={bars} x={x} y={y.scale} kind="unshaped" />
      <Marker at={x(mean.mean)} text={`mean ${formatNumber(mean.mean)}`} area={AREA} />
    </Plot>
  )
}

export function StepsPlot({ distribution: { histogram, median } }: { readonly distribution: Distribution }) {
  // Centers each bar on its whole number.
  const shifted = { ...histogram, start: histogram.start - 0.5 }
  const end = shifted.start + shifted.width * shifted.counts.length
  const x = linearScale([shifted.start - 0.2, end + 0.2], RANGES.x, 10)
  const y = countAxis(histogram.counts, 'successful episodes')
  const bars = barsOf(shifted, (from, to) =>
    to - from === 1 ? `${from + 0.5} steps` : `${from + 0.5} to ${to - 0.5} steps`,
  )
  return (
    <Plot
      title="Steps to success"
      x={{ scale: wholeTicks(x), format: formatTick, label: 'steps' }}
      y={y}
      table={barsTable('Steps', bars)}
    >
      <Bars bars={bars} x={x} y={y.scale} kind="good" />
      <Marker at={x(median)} text={`median ${formatTick(median)}`} area={AREA} />
    </Plot>
  )
}

interface PassPlotProps {
  readonly name: 'pass@' | 'pass^'
  readonly estimates: Summary['success']['passAtK']
  readonly failed: number
}

export function PassPlot({ name, estimates, failed }: PassPlotProps) {
  const most = estimates.at(-1)?.k ?? 1
  const x = linearScale(
    [most === 1 ? 0 : 1, Math.max(2, most)],
    [RANGES.x[0] + 12, RANGES.x[1] - 12],
    Math.max(3, Math.min(10, most)),
  )
  const y = shareAxis(`${name}k`)
  const whiskers = estimates.map(({ k, mean, low, high, clusters }) => ({
    at: k,
    value: mean,
    low,
    high,
    tip: `${name}${k}: ${formatPercent(mean)} (${formatShareInterval({ low, high })}), ${formatCount(clusters)} tasks`,
  }))
  const band = estimates.flatMap(({ k, low, high }) => (low === null || high === null ? [] : { at: k, low, high }))
  return (
    <Plot
      title={`${name}k`}
      x={{ scale: wholeTicks(x, 1, most), format: formatTick, label: 'k (attempts)' }}
      y={y}
      table={{
        head: ['k', `${name}k`, '95 % interval', 'Tasks', ...(failed > 0 ? ['With failed'] : [])],
        rows: estimates.map(({ k, mean, low, high, clusters, bounds }) => [
          String(k),
          formatPercent(mean),
          formatShareInterval({ low, high }),
          formatCount(clusters),
          ...(failed > 0 ? [shortVoids({ failed, bounds }).join()] : []),
        ]),
      }}
    >
      {band.length > 1 && <Band points={band} x={x} y={y.scale} kind="unshaped" />}
      <Line points={estimates.map(({ k, mean }) => [k, mean])} x={x} y={y.scale} kind="unshaped" />
      {most <= 20 && <Whiskers whiskers={whiskers} x={x} y={y.scale} kind="unshaped" />}
    </Plot>
  )
}

function barsOf({ start, width, counts }: Histogram, name: (from: number, to: number) => string) {
  return counts.map((value, i) => {
    const from = roundTo(start + i * width, width)
    const to = roundTo(start + (i + 1) * width, width)
    const range = name(from, to)
    return { from, to, value, range, tip: `${range}: ${formatCount(value)} episodes` }
  })
}

function barsTable(name: string, bars: readonly (Bar & { readonly range: string })[]) {
  return { head: [name, 'Episodes'], rows: bars.map(({ range, value }) => [range, formatCount(value)]) }
}

function countAxis(counts: readonly number[], name: string): Axis {
  const most = counts.reduce((a, b) => Math.max(a, b), 4)
  return { scale: linearScale(niceDomain([0, most], 4), RANGES.y, 4), format: formatTick, label: name }
}

function shareAxis(name: string): Axis {
  return { scale: linearScale([0, 1], RANGES.y, 5), format: (value) => `${Math.round(value * 100)} %`, label: name }
}
