import type { Comparison } from '@episodic/report/compare/comparison'
import { formatSigned } from '@episodic/report/notes/figure-notes'
import { formatCount, formatTick } from '@episodic/report/text/format'
import { plainString } from '../signs.ts'
import { areaOf, FULL, Plot, rangesOf } from './plot-frame.tsx'
import { extentOf, linearScale, niceDomain, pixels } from './scale.ts'

interface TaskDifferencesPlotProps {
  readonly byTask: Comparison['byTask']
  readonly returned: NonNullable<Comparison['return']>
  readonly compared: number
}

export function TaskDifferencesPlot({ byTask, returned, compared }: TaskDifferencesPlotProps) {
  const { mean, low, high } = returned.difference
  const area = areaOf(FULL)
  const bounds = [low, high].filter((bound) => bound !== null)
  const values = [...byTask.map(({ difference }) => difference), mean, ...bounds]
  const x = linearScale([0.5, byTask.length + 0.5], rangesOf(FULL).x, 10)
  const places = Object.assign((value: number) => x(value), { domain: x.domain, ticks: [] })
  const y = linearScale(niceDomain(extentOf(values, { zero: true }), 4), rangesOf(FULL).y, 4)
  return (
    <Plot
      title="Difference in return of each task"
      size={FULL}
      x={{
        scale: places,
        format: formatTick,
        label:
          byTask.length < compared
            ? `${formatCount(byTask.length)} of ${formatCount(compared)} tasks, evenly spaced, by difference`
            : 'tasks, by difference',
      }}
      y={{ scale: y, format: formatTick, label: 'return, B − A' }}
      table={{
        head: ['Task', 'Return, B − A'],
        rows: byTask.map(({ task, difference }) => [plainString(task), formatSigned(difference)]),
      }}
    >
      {low !== null && high !== null && (
        <rect
          class="interval"
          x={area.left}
          width={area.right - area.left}
          y={y(high)}
          height={pixels(Math.max(1, y(low) - y(high)))}
        />
      )}
      {byTask.map(({ task, difference }, i) => {
        const [top, bottom] = [y(Math.max(0, difference)), y(Math.min(0, difference))]
        // A task without a difference is drawn as a hairline.
        const height = Math.max(1, bottom - top)
        const width = Math.max(0.5, x(i + 1.5) - x(i + 0.5) - (byTask.length > 200 ? 0 : 1))
        const kind = difference > 0 ? 'good' : difference < 0 ? 'bad' : 'pending'
        return (
          <rect
            key={task}
            class={kind}
            x={x(i + 0.5)}
            width={pixels(width)}
            y={pixels(height > bottom - top ? top - 0.5 : top)}
            height={pixels(height)}
          >
            <title>{`${plainString(task)}: ${formatSigned(difference)}`}</title>
          </rect>
        )
      })}
      <line class="marker" x1={area.left} x2={area.right} y1={y(mean)} y2={y(mean)} />
      <text x={area.left + 8} y={pixels(y(mean) - 6)} class="note">{`mean ${formatSigned(mean)}`}</text>
    </Plot>
  )
}
