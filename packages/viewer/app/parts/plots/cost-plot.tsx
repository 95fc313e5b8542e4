import type { Contrasts } from '@episodic/report'
import { formatNumber, formatPercent, formatTick } from '@episodic/report'
import { plainString } from '../signs.ts'
import { FULL, Plot, rangesOf } from './plot-frame.tsx'
import { extentOf, linearScale, niceDomain, pathOf, pixels } from './scale.ts'

/** Tokens and cost are of an episode. */
export type CostedRun = Pick<Contrasts['runs'][number], 'name' | 'success' | 'tokens' | 'cost'>

/** Success of each run over its cost, or over its tokens where costs are not known; the best ones are connected. */
export function CostPlot({ runs }: { readonly runs: readonly CostedRun[] }) {
  const unit = runs.every(({ cost }) => cost !== null) ? 'cost' : 'tokens'
  const points = runs.flatMap(({ name, success, [unit]: spent }) => (spent === null ? [] : [{ name, success, spent }]))
  const front = points
    .filter(({ success, spent }) => !points.some((other) => other.success > success && other.spent <= spent))
    .filter(({ success, spent }) => !points.some((other) => other.success === success && other.spent < spent))
    .toSorted((a, b) => a.spent - b.spent)
  const x = linearScale(
    niceDomain(
      extentOf(
        points.map(({ spent }) => spent),
        { zero: true },
      ),
    ),
    rangesOf(FULL).x,
    8,
  )
  const y = linearScale([0, 1], rangesOf(FULL).y, 5)
  return (
    <Plot
      title={`Success over ${unit} of an episode`}
      size={FULL}
      x={{ scale: x, format: formatTick, label: `${unit} of an episode` }}
      y={{ scale: y, format: (value) => `${Math.round(value * 100)} %`, label: 'success' }}
      table={{
        head: ['Run', `${unit} of an episode`, 'Success', 'Not beaten'],
        rows: points.map((point) => [
          plainString(point.name),
          formatNumber(point.spent),
          formatPercent(point.success),
          front.includes(point) ? '✓' : '',
        ]),
      }}
    >
      <g class="unshaped">
        <path class="line" d={pathOf(front.map(({ spent, success }) => [x(spent), y(success)]))} />
      </g>
      {points.map((point) => (
        <g key={point.name} class={front.includes(point) ? 'unshaped' : 'pending'}>
          <circle cx={x(point.spent)} cy={y(point.success)} r={5} />
          <title>{`${plainString(point.name)}: ${formatPercent(point.success)}, ${formatNumber(point.spent)}`}</title>
        </g>
      ))}
      {points.map((point) => (
        <text
          key={point.name}
          class="note"
          x={pixels(x(point.spent) + (x(point.spent) > FULL.width * 0.8 ? -9 : 9))}
          y={pixels(y(point.success) - 7)}
          text-anchor={x(point.spent) > FULL.width * 0.8 ? 'end' : 'start'}
        >
          {plainString(point.name.slice(0, 28))}
        </text>
      ))}
    </Plot>
  )
}
