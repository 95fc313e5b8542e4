import type { Summary } from '@episodic/report/fold/summary'
import { formatCount, formatNumber, formatTick } from '@episodic/report/text/format'
import { plainString } from '../signs.ts'
import { Bars, Line } from './marks.tsx'
import { areaOf, Drawing, HALF, Plot, rangesOf } from './plot-frame.tsx'
import { extentOf, linearScale, niceDomain, pixels, wholeTicks } from './scale.ts'

const RANGES = rangesOf(HALF)
/** Most terms that are drawn; the table has all. */
export const MOST_TERMS = 8
const MOST_NAME = 18

interface RewardByStepPlotProps {
  readonly steps: Summary['rewards']['byStep']
  readonly shaped: boolean
}

/** The mean reward of each step, with bars for the episodes that have so many steps. */
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

interface RewardByTermPlotProps {
  readonly terms: Summary['rewards']['byTerm']
  readonly shaping: number | null
}

export function RewardByTermPlot({ terms, shaping }: RewardByTermPlotProps) {
  const ordered = terms.toSorted((a, b) => Math.abs(b.mean) - Math.abs(a.mean))
  const rows = [
    ...ordered.slice(0, MOST_TERMS).map(({ name, mean }) => ({ name, mean, kind: 'unshaped' })),
    ...(shaping === null ? [] : [{ name: 'shaping', mean: shaping, kind: 'shaped' }]),
  ]
  const area = { ...areaOf(HALF), left: 150, right: HALF.width - 64 }
  const height = Math.min(52, (area.bottom - area.top) / Math.max(1, rows.length))
  const domain = extentOf(
    rows.map(({ mean }) => mean),
    { zero: true },
  )
  // A value is printed outside its bar: to the left of a negative one.
  const x = linearScale(domain, [area.left + (domain[0] < 0 ? 54 : 0), area.right], 4)
  return (
    <Drawing
      title="Mean reward by term"
      size={HALF}
      table={{
        head: ['Term', 'Mean of an episode', 'Steps in which it is not 0'],
        rows: ordered.map(({ name, mean, steps }) => [plainString(name), formatNumber(mean), formatCount(steps)]),
      }}
    >
      {x.ticks.map((tick) => (
        <>
          <line class={tick === 0 ? 'axis' : 'grid'} x1={x(tick)} x2={x(tick)} y1={area.top} y2={area.bottom} />
          <text x={x(tick)} y={area.bottom + 18} text-anchor="middle">
            {formatTick(tick)}
          </text>
        </>
      ))}
      {rows.map(({ name, mean, kind }, i) => {
        const y = area.top + i * height
        const [from, to] = [x(Math.min(0, mean)), x(Math.max(0, mean))]
        const short = name.length > MOST_NAME ? `${name.slice(0, MOST_NAME - 1).toWellFormed()}…` : name
        return (
          <>
            <text x={area.left - 12} y={pixels(y + height / 2 + 4)} class="term" text-anchor="end">
              {plainString(short)}
            </text>
            <rect
              class={kind}
              x={from}
              y={pixels(y + height * 0.22)}
              width={pixels(Math.max(1, to - from))}
              height={pixels(height * 0.56)}
              rx={2}
            >
              <title>{`${plainString(name)}: ${formatNumber(mean)}`}</title>
            </rect>
            <text
              x={mean < 0 ? from : to}
              y={pixels(y + height / 2 + 4)}
              dx={mean < 0 ? -6 : 6}
              text-anchor={mean < 0 ? 'end' : 'start'}
            >
              {formatNumber(mean)}
            </text>
          </>
        )
      })}
      <text x={area.right} y={HALF.height - 6} class="name" text-anchor="end">
        mean of an episode (reward)
      </text>
    </Drawing>
  )
}
