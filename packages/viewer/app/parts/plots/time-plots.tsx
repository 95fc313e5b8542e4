import type { Latency, Summary } from '@episodic/report/fold/summary'
import { formatCount, formatDuration, formatNumber, formatTick } from '@episodic/report/text/format'
import { Bars, Marker } from './marks.tsx'
import { areaOf, FULL, HALF, Plot, rangesOf } from './plot-frame.tsx'
import { linearScale, logScale, niceDomain, pathOf } from './scale.ts'

interface LatencyPlotProps {
  readonly latency: Latency
  readonly title: string
  readonly counted: string
}

export function LatencyPlot({ latency: { median, p90, p99, bins }, title, counted }: LatencyPlotProps) {
  const [low, high] = [bins[0]?.from ?? 0.1, bins.at(-1)?.to ?? 1]
  const x = logScale([low / 1.2, high * 1.2], rangesOf(HALF).x)
  const most = bins.reduce((max, { count }) => Math.max(max, count), 4)
  const y = linearScale(niceDomain([0, most], 4), rangesOf(HALF).y, 4)
  const bars = bins.map(({ from, to, count }) => {
    const range = `${formatDuration(from)} to ${formatDuration(to)}`
    return { from, to, value: count, range, tip: `${range}: ${formatCount(count)} ${counted}` }
  })
  const marks = [
    ['p50', median],
    ['p90', p90],
    ['p99', p99],
  ] as const
  return (
    <Plot
      title={title}
      x={{ scale: x, format: formatDurationTick, label: 'time (logarithmic)' }}
      y={{ scale: y, format: formatTick, label: counted }}
      table={{ head: ['Time', counted], rows: bars.map(({ range, value }) => [range, formatCount(value)]) }}
    >
      <Bars bars={bars} x={x} y={y} kind="time" />
      {marks.map(([name, value], row) => (
        <Marker key={name} at={x(Math.max(value, low))} text={name} area={areaOf(HALF)} row={row} />
      ))}
    </Plot>
  )
}

export function ConcurrencyPlot({
  concurrency: { binMilliseconds, inFlight, peak },
}: {
  readonly concurrency: NonNullable<Summary['time']['concurrency']>
}) {
  const unit = unitOf(binMilliseconds * inFlight.length)
  const x = linearScale([0, (binMilliseconds * inFlight.length) / unit.milliseconds], rangesOf(FULL).x, 10)
  const y = linearScale(niceDomain([0, peak], 4), rangesOf(FULL).y, 4)
  const outline = pathOf(
    inFlight.flatMap((mean, bin) =>
      [bin, bin + 1].map((edge) => [x((edge * binMilliseconds) / unit.milliseconds), y(mean)] as const),
    ),
  )
  const area = areaOf(FULL)
  return (
    <Plot
      title="Episodes in flight"
      size={FULL}
      x={{ scale: x, format: formatTick, label: `since the start of the first episode (${unit.name})` }}
      y={{ scale: y, format: formatTick, label: 'episodes in flight (mean of a bin)' }}
      table={{
        head: [`Since the start (${unit.name})`, 'Episodes in flight'],
        rows: inFlight.map((mean, bin) => [
          formatNumber((bin * binMilliseconds) / unit.milliseconds),
          formatNumber(mean),
        ]),
      }}
    >
      <path class="time band" d={`${outline}L${area.right} ${area.bottom}L${area.left} ${area.bottom}Z`} />
      <g class="time">
        <path class="line" d={outline} />
      </g>
    </Plot>
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
