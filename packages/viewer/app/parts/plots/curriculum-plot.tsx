import type { Summary } from '@episodic/report/fold/summary'
import { shortBounds } from '@episodic/report/notes/void-notes'
import { formatCount, formatPercent, formatTick } from '@episodic/report/text/format'
import { Line } from './marks.tsx'
import { FULL, Plot, rangesOf } from './plot-frame.tsx'
import { linearScale } from './scale.ts'

const RANGES = rangesOf(FULL)

export function CurriculumPlot({ parts }: { readonly parts: NonNullable<Summary['curriculum']> }) {
  const x = linearScale([0, parts.at(-1)?.to ?? 1], RANGES.x, 6)
  const y = linearScale([0, 1], RANGES.y, 5)
  const middle = ({ from, to }: { readonly from: number; readonly to: number }) => (from + to) / 2
  const hasFailed = parts.some(({ failed }) => failed > 0)
  return (
    <Plot
      title="Success rate and difficulty by draw"
      size={FULL}
      x={{ scale: x, format: formatTick, label: 'draw' }}
      y={{ scale: y, format: formatTick, label: 'success rate; difficulty' }}
      table={{
        head: [
          ...['Draws', 'Stage', 'Tasks', 'Difficulty', 'Succeeded', 'Episodes', 'Success'],
          ...(hasFailed ? ['With failed'] : []),
        ],
        rows: parts.map(({ from, to, stage, tasks, difficulty, successes, count, rate, failed }) => [
          `${formatCount(from)} to ${formatCount(to - 1)}`,
          stage ?? '–',
          formatCount(tasks),
          difficulty.toFixed(2),
          formatCount(successes),
          formatCount(count),
          formatPercent(rate),
          ...(hasFailed ? [shortBounds({ successes, count, failed })] : []),
        ]),
      }}
    >
      <Line
        points={parts.flatMap((part) => (part.rate === null ? [] : [[middle(part), part.rate] as const]))}
        x={x}
        y={y}
        kind="good"
      />
      <Line points={parts.map((part) => [middle(part), part.difficulty])} x={x} y={y} kind="unshaped" />
    </Plot>
  )
}
