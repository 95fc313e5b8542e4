import { formatInterval, formatNumber, type ShownTree } from '@episodic/report'
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
          <div key={tree.rollout} class="fork-tree">
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls has to be reached by keys
    <section class="frame table-frame" aria-label={`Values of tree ${rollout}`} tabIndex={0}>
      <table class="rewards">
        <caption>
          Tree {rollout}: the value of a state is the mean return to go of the lines that go on from it
          {omitted.points > 0 && `; ${omitted.points} more forks are left out`}.
        </caption>
        <thead>
          <tr>
            <th scope="col">line</th>
            <th scope="col" class="number">
              after step
            </th>
            <th scope="col" class="number">
              V̂
            </th>
            <th scope="col" class="number">
              95 %
            </th>
            <th scope="col">return to go of each line</th>
            <th scope="col">observed there</th>
          </tr>
        </thead>
        <tbody>
          {points.map(({ path, at, value, returnsToGo, observation }) => (
            <tr key={`${path.join()}@${at}`}>
              <td>{path.length === 0 ? 'trunk' : path.join('.')}</td>
              <td class="number">{at}</td>
              <td class="number">
                <b>{formatNumber(value?.mean ?? null)}</b>
              </td>
              <td class="number muted">{value ? formatInterval(value) : '–'}</td>
              <td>{returnsToGo.map(formatNumber).join(' · ')}</td>
              <td class="observed">
                <LongText id={`text:fork/${rollout}/${path.join()}/${at}`} text={observation} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
