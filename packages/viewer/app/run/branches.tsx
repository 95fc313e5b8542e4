import type { Summary } from '@episodic/report/fold/summary'
import { noteInterval } from '@episodic/report/notes/run-notes'
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
import { FORK_CAPTION, ForkTree } from '../parts/fork-tree.tsx'
import { plain } from '../parts/plain-text.tsx'

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
        <Card
          key={`${tree.rollout} ${tree.task}`}
          title={
            <>
              {plain(tree.task)}, rollout {tree.rollout}
            </>
          }
          caption={FORK_CAPTION}
          wide
        >
          <ForkTree tree={tree} />
        </Card>
      ))}
    </Section>
  )
}
