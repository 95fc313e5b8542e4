import type { Summary } from '@episodic/report/fold/summary'
import { formatCount, formatNumber, formatTick } from '@episodic/report/text/format'
import { Bars, Line } from './marks.tsx'
import { HALF, Plot, rangesOf } from './plot-frame.tsx'
import { extentOf, linearScale, niceDomain, wholeTicks } from './scale.ts'

const RANGES = rangesOf(HALF)

interface RewardByStepPlotProps {
  readonly steps: Summary['rewards']['byStep']
  readonly shaped: boolean
}

export function RewardByStepPlot({ steps, shaped }: RewardByStepPlotProps) {
  const values = steps.flatMap(({ total, unshaped }) => (shaped ? [total, unshaped] : [unshaped]))
  const x = linearScale([0.5, steps.length + 0.5], RANGES.x, Math.max(3, Math.min(10, steps.length)))
  const y = linearScale(niceDomain(extentOf(values, { zero: true })), RANGES.y, 5)
  const reach = linearScale([0, steps[0]?.count ?? 1], RANGES.y)
  const columns = steps.map(({ count, total, unshaped }, i) => ({
    from: i + 0.5,
    to: i + 1.5,
    value: count,
    tip: `step ${i + 1}: unshaped ${formatNumber(unshaped)}${shaped ? `, shaped ${formatNumber(total)}` : ''}, ${formatCount(count)} episodes`,
  }))
  return (
    <Plot
      title="Mean reward by step"
      x={{ scale: wholeTicks(x, 1), format: formatTick, label: 'step of the episode' }}
      y={{ scale: y, format: formatTick, label: 'mean reward' }}
      table={{
        head: ['Step', 'Unshaped', ...(shaped ? ['Shaped'] : []), 'Episodes'],
        rows: steps.map(({ count, total, unshaped }, i) => [
          String(i + 1),
          formatNumber(unshaped),
          ...(shaped ? [formatNumber(total)] : []),
          formatCount(count),
        ]),
      }}
    >
      <Bars bars={columns} x={x} y={reach} kind="reach" />
      {shaped && <Line points={steps.map(({ total }, i) => [i + 1, total])} x={x} y={y} kind="shaped" />}
      <Line points={steps.map(({ unshaped }, i) => [i + 1, unshaped])} x={x} y={y} kind="unshaped" />
    </Plot>
  )
}
