import type { ShownTree } from '@episodic/report/fold/tree-sample'
import { formatInterval, formatNumber } from '@episodic/report/text/format'
import { FiguresTable } from '../parts/figures-table.tsx'
import { LongText } from '../parts/long-text.tsx'
import { TreePlot } from '../parts/plots/tree-plot.tsx'
import { useLoaded } from '../source/use-source.ts'

interface BranchValuesProps {
  readonly run: string
  readonly task: string
  readonly isBranched: boolean
}

/** Of a run with branches: the estimated values of the states in which the episodes of a task were forked. */
export function BranchValues({ run, task, isBranched }: BranchValuesProps) {
  const { value: detail } = useLoaded(
    (source) => (isBranched ? source.run(run) : Promise.resolve(null)),
    [run, isBranched],
  )
  if (!isBranched || !detail) return null
  const trees = detail.summary.branch?.trees.filter((tree) => tree.task === task) ?? []
  return (
    <>
      <h2>Forks</h2>
      {trees.length === 0 && (
        <p class="muted">
          The states of this task are not among those whose values were estimated: a summary keeps a few trees.
        </p>
      )}
      {trees.map((tree) =>
        tree.points.length > 0 ? (
          <div key={tree.rollout}>
            <TreePlot tree={tree} />
            <TreeValues tree={tree} />
          </div>
        ) : (
          <p key={tree.rollout} class="muted">
            Tree {tree.rollout}: every line ended before its first fork.
          </p>
        ),
      )}
    </>
  )
}

function TreeValues({ tree: { rollout, points, omitted } }: { readonly tree: ShownTree }) {
  return (
    <>
      <p class="caption">
        Tree {rollout}: the value of a state is the mean return to go of the lines that go on from it
        {omitted.points > 0 && `; ${omitted.points} more forks are left out`}.
      </p>
      <FiguresTable
        look={['frame table-frame', 'rewards']}
        head={['line', 'observed there', 'after step', 'V̂', '95 %', 'return to go of each line']}
        texts={2}
        rows={points.map(({ path, at, value, returnsToGo, observation }) => [
          path.length === 0 ? 'trunk' : path.join('.'),
          <div class="observed">
            <LongText id={`text:fork/${rollout}/${path.join()}/${at}`} text={observation} />
          </div>,
          at,
          <b>{formatNumber(value?.mean ?? null)}</b>,
          <span class="muted">{value ? formatInterval(value) : '–'}</span>,
          returnsToGo.map(formatNumber).join(' · '),
        ])}
      />
    </>
  )
}
