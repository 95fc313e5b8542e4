import type { Summary } from '@episodic/report/fold/summary'
import type { ShownTree } from '@episodic/report/fold/tree-sample'
import { formatTreeValue, noteInterval } from '@episodic/report/notes/run-notes'
import { shortVoids } from '@episodic/report/notes/void-notes'
import {
  formatCount,
  formatInterval,
  formatNumber,
  formatPercent,
  formatShareInterval,
} from '@episodic/report/text/format'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { plain } from '../parts/plain-text.tsx'
import { nameLine, TreePlot } from '../parts/plots/tree-plot.tsx'

/** The figures of a branched run: the best leaf of a rollout, and the values of the states at branch points. */
export function Branches({ summary: { branch } }: { readonly summary: Summary }) {
  if (!branch) return null
  const { leaves, rollouts, partial, failed, best, mean, trees } = branch
  const left = partial > 0 ? ` ${formatCount(partial)} rollouts are left out: a leaf failed or is missing.` : ''
  return (
    <Section title="Branches">
      <Card
        title={`Best of ${formatCount(leaves)}`}
        caption={`The best leaf of each of ${formatCount(rollouts)} rollouts, beside the mean leaf. The leaves of a rollout share steps, and intervals are clustered by task.${left}`}
        empty="No rollout finished with all of its leaves."
        wide
      >
        {rollouts > 0 && (
          <FiguresTable
            head={[
              ...['', 'Return, unshaped', '95 % interval', 'Success', '95 % interval'],
              ...(failed > 0 ? ['With failed'] : []),
            ]}
            rows={(
              [
                [`Best of ${formatCount(leaves)}`, best],
                ['Mean leaf', mean],
              ] as const
            ).map(([name, { return: earned, success, bounds }]) => [
              name,
              formatNumber(earned?.mean ?? null),
              earned ? noteInterval(earned, formatInterval) : '',
              formatPercent(success.rate),
              noteInterval(success, formatShareInterval),
              ...(failed > 0 ? [shortVoids({ failed, bounds }).join()] : []),
            ])}
          />
        )}
      </Card>
      {trees.map((tree) => (
        <TreeCard key={`${tree.rollout} ${tree.task}`} tree={tree} />
      ))}
    </Section>
  )
}

function TreeCard({ tree }: { readonly tree: ShownTree }) {
  return (
    <Card
      title={
        <>
          {plain(tree.task)}, rollout {tree.rollout}
        </>
      }
      caption="V̂ is the mean return-to-go of the lines that part at a state, with its 95 % interval over these lines."
      wide
    >
      <TreePlot tree={tree} />
      {tree.points.length === 0 ? (
        <p class="nothing">The episode ended before it could branch.</p>
      ) : (
        <FiguresTable
          head={['Line', 'Observation', 'V̂', 'Return-to-go of each line', 'Step']}
          texts={4}
          rows={tree.points.map(({ at, path, observation, value, returnsToGo }) => [
            nameLine(path),
            plain(observation),
            formatTreeValue(value),
            returnsToGo.map(formatNumber).join('   '),
            formatCount(at),
          ])}
        />
      )}
      {tree.omitted.points > 0 && <p class="caption">And {formatCount(tree.omitted.points)} more.</p>}
    </Card>
  )
}
