import type { Contrasts } from '@episodic/report/compare/contrasts'
import { formatNumber, formatPercent, formatShareInterval, formatTick } from '@episodic/report/text/format'
import { plainString } from '../signs.ts'
import { areaOf, Plot, type PlotSize, rangesOf } from './plot-frame.tsx'
import { extentOf, linearScale, niceDomain, pathOf } from './scale.ts'

export interface CostedRun {
  readonly name: string
  readonly success: number
  /** If the failed episodes had all been lost, and all won. */
  readonly bounds: { readonly low: number; readonly high: number }
  /** The share of the scheduled episodes without a result. */
  readonly without: number
  /** Means of an episode; `null` if they are not known. */
  readonly tokens: number | null
  readonly cost: number | null
  /** Whether they are the means of those episodes alone of which they are known. */
  readonly isPart: boolean
}

/** The share of episodes without a result that a gate accepts. A run with more of them is not on the line. */
const MOST_WITHOUT = 0.05

const SIZE: PlotSize = { width: 1_150, height: 320 }

export function costedOf(run: Contrasts['runs'][number]): CostedRun {
  const { name, success, bounds, tokens, cost, scheduled, failed, unresolved, tasks, known } = run
  return {
    ...{ name, success, tokens, cost },
    bounds: bounds ?? { low: success, high: success },
    without: scheduled > 0 ? (failed + unresolved) / scheduled : 0,
    isPart: known !== undefined && (cost === null ? known.tokens : known.cost) < tasks,
  }
}

export const COST_CAPTION =
  'Players on the line are not beaten in both. Bars reach from all failed lost to all won. Hollow players are off the line: over 5 % without a result, or a cost unknown in part.'

/** Success of each run over its cost, or over its tokens where costs are not known; the best ones are connected. */
export function CostPlot({ runs }: { readonly runs: readonly CostedRun[] }) {
  const unit = runs.every(({ cost, tokens }) => cost !== null || tokens === null) ? 'cost' : 'tokens'
  const points = runs.flatMap((run) => {
    const { [unit]: spent } = run
    return spent === null ? [] : [{ ...run, spent, isWhole: !run.isPart && run.without <= MOST_WITHOUT }]
  })
  const whole = points.filter(({ isWhole }) => isWhole)
  const front = whole
    .filter(
      ({ success, spent }) =>
        !whole.some(
          (other) =>
            other.success >= success && other.spent <= spent && (other.success > success || other.spent < spent),
        ),
    )
    .toSorted((a, b) => a.spent - b.spent)
  const x = linearScale(
    niceDomain(
      extentOf(
        points.map(({ spent }) => spent),
        { zero: true },
      ),
    ),
    rangesOf(SIZE).x,
    8,
  )
  const y = linearScale([0, 1], rangesOf(SIZE).y, 5)
  // Those on the line have their names first.
  const named = [...front, ...points.filter((point) => !front.includes(point))].map((point) => ({
    point,
    text: plainString(point.name),
    x: x(point.spent),
    y: y(point.success),
  }))
  const { right, bottom } = areaOf(SIZE)
  const missing = runs.filter((run) => run[unit] === null).map(({ name }) => plainString(name))
  const labels = placeLabels(named, { right, top: 14, bottom })
  return (
    <>
      <Plot
        title={`Success over ${unit} of an episode`}
        size={SIZE}
        x={{ scale: x, format: formatTick, label: `${unit} of an episode` }}
        y={{ scale: y, format: (value) => `${Math.round(value * 100)} %`, label: 'success' }}
        table={{
          head: ['Run', `${unit} of an episode`, 'Success', 'If failed were lost or won', 'Not beaten'],
          rows: points.map((point) => [
            plainString(point.name),
            formatNumber(point.spent),
            formatPercent(point.success),
            formatShareInterval(point.bounds),
            front.includes(point) ? '✓' : '',
          ]),
        }}
      >
        <g class="unshaped">
          <path class="line" d={pathOf(front.map(({ spent, success }) => [x(spent), y(success)]))} />
        </g>
        {named.map(({ point, x: across, y: up }) => (
          <g key={point.name} class={front.includes(point) ? 'unshaped' : 'pending'}>
            <line class="whisker" x1={across} x2={across} y1={y(point.bounds.low)} y2={y(point.bounds.high)} />
            <circle cx={across} cy={up} r={5} class={point.isWhole ? undefined : 'hollow'} />
            <title>{plainString(point.name)}</title>
          </g>
        ))}
        {named.map(({ point, text }, i) => {
          const label = labels[i]
          return (
            label && (
              <text key={point.name} class="note" x={label.x} y={label.y} text-anchor={label.anchor}>
                {text}
              </text>
            )
          )
        })}
      </Plot>
      {missing.length > 0 && (
        <p class="muted">{`Not in the plot, for lack of a known ${unit}: ${missing.join(', ')}.`}</p>
      )}
    </>
  )
}

export interface PlacedLabel {
  readonly x: number
  readonly y: number
  readonly anchor: 'start' | 'end'
}

/** Of the small texts of a plot, generously. */
const CHARACTER = 6.6
/** Base lines above and below the point, the nearest first. */
const OFFSETS = [-7, 15, -20, 28, -33, 41]

/** Places names so that none covers another or a point: the first choose first, `null` where there is no room. */
export function placeLabels(
  points: readonly { readonly x: number; readonly y: number; readonly text: string }[],
  area: { readonly right: number; readonly top: number; readonly bottom: number },
): (PlacedLabel | null)[] {
  const taken = points.map(({ x, y }) => ({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }))
  return points.map(({ x, y, text }) => {
    const width = text.length * CHARACTER
    const isBefore = x + 9 + width > area.right
    const left = isBefore ? x - 9 - width : x + 9
    for (const offset of OFFSETS) {
      const box = { left, right: left + width, top: y + offset - 10, bottom: y + offset + 3 }
      const covers = (other: typeof box) =>
        box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom
      if (box.top < area.top || box.bottom > area.bottom || taken.some(covers)) continue
      taken.push(box)
      return { x: isBefore ? x - 9 : x + 9, y: y + offset, anchor: isBefore ? 'end' : 'start' }
    }
    return null
  })
}
