import type { Summary } from '@episodic/report/fold/summary'
import { formatNumber, formatTick } from '@episodic/report/text/format'
import { areaOf, FULL, Plot, rangesOf } from './plot-frame.tsx'
import { linearScale, niceDomain, pathOf } from './scale.ts'

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
