import type { ShownLeaf, ShownTree } from '@episodic/report/fold/tree-sample'
import { formatNumber, formatTick } from '@episodic/report/text/format'
import { plainString } from '../signs.ts'
import { Drawing } from './plot-frame.tsx'
import { linearScale, pathOf, pixels } from './scale.ts'

const WIDTH = 1_150
const ROW = 18
const TOP = 22
const BOTTOM = 34
const LEFT = 14
/** Room for the return beside the end of a line. */
const RIGHT = 120

/** Steps go from left to right, with a row for each line, and a corner where it branches off. */
export function TreePlot({ tree: { leaves, omitted, task, rollout } }: { readonly tree: ShownTree }) {
  const height = TOP + ROW * leaves.length + BOTTOM
  const longest = leaves.reduce((most, { steps }) => Math.max(most, steps), 1)
  const x = linearScale([0, longest], [LEFT, WIDTH - RIGHT], 10)
  const y = (row: number) => TOP + ROW * (row + 0.5)
  const base = TOP + ROW * leaves.length
  const rows = new Map(leaves.map(({ path }, row) => [nameLine(path), row]))
  return (
    <Drawing
      title={`The lines of ${plainString(task)}, rollout ${rollout}`}
      size={{ width: WIDTH, height }}
      table={{
        head: ['Line', 'End', 'Return', 'Steps'],
        texts: 2,
        rows: leaves.map(({ path, outcome, return: earned, steps }) => [
          nameLine(path),
          outcome,
          formatNumber(earned),
          String(steps),
        ]),
      }}
    >
      <text x={0} y={12}>
        {omitted.leaves > 0 ? `the first ${leaves.length} lines, with their returns` : 'lines, with their returns'}
      </text>
      {x.ticks.filter(Number.isInteger).map((tick) => (
        <>
          <line class="grid" x1={x(tick)} x2={x(tick)} y1={TOP} y2={base} />
          <text x={x(tick)} y={base + 16} text-anchor="middle">
            {formatTick(tick)}
          </text>
        </>
      ))}
      {leaves.map((leaf, row) => {
        const fork = forkOf(leaf)
        const from = fork && rows.get(nameLine(fork.path))
        const start = x(fork?.at ?? 0)
        const corner = from === undefined || from === null ? [] : [[start, y(from)] as const]
        const end = [x(leaf.steps), y(row)] as const
        const earned = leaf.return === null ? 'failed' : formatNumber(leaf.return)
        return (
          <>
            <path class="branch" d={pathOf([...corner, [start, y(row)], end])} />
            <circle class={MARKS[leaf.outcome]} cx={end[0]} cy={end[1]} r={4.5}>
              <title>{`line ${nameLine(leaf.path)}: ${leaf.outcome}, ${leaf.steps} steps`}</title>
            </circle>
            <text x={pixels(end[0] + 9)} y={end[1] + 4}>
              {earned}
            </text>
          </>
        )
      })}
      <text x={WIDTH - RIGHT} y={height - 4} class="name" text-anchor="end">
        step
      </text>
    </Drawing>
  )
}

const MARKS = { succeeded: 'good', 'fell-short': 'fell-short', truncated: 'truncated', failed: 'bad' } as const

/** The name of the line at the end of a path. The first child of a fork continues its parent's line. */
export function nameLine(path: readonly number[]): string {
  return path.slice(0, path.findLastIndex((line) => line > 0) + 1).join('.') || 'trunk'
}

/** Where a line branched off, and from which line; `null` for the trunk. */
function forkOf({ path, at }: ShownLeaf): { readonly path: readonly number[]; readonly at: number } | null {
  const last = path.findLastIndex((line) => line > 0)
  return last < 0 ? null : { path: path.slice(0, last), at: at[last] as number }
}
