import type { SealedRecord } from '@episodic/protocol'
import { formatCount, formatInterval, formatNumber } from '@episodic/report'
import { MOST_LINES } from '../group/load-group.ts'
import { loadTree } from '../group/load-tree.ts'
import { formatSigned } from '../parts/amounts.ts'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { ErrorNote, LoadingNote } from '../parts/notes.tsx'
import { useLoaded } from '../source/use-source.ts'

const HEAD = ['Steps', 'Advantage', '95 %', 'V̂ after', 'Lines', 'V̂ of siblings', 'Siblings']

/** What the steps of a leaf were worth between its forks, beside its siblings; nothing for other episodes. */
export function ForkAdvantages({ run, record }: { readonly run: string; readonly record: SealedRecord }) {
  const tree = useLoaded((source) => loadTree(source, run, record), [run, record])
  if (tree.error) return <ErrorNote error={tree.error} />
  if (!tree.value) return tree.loading && 'branch' in record && record.branch ? <LoadingNote /> : null
  const { discount, advantages } = tree.value
  return (
    <Section title="Advantages from forks">
      <Card
        title="Steps between two forks"
        caption={`The mean return from the first of these steps, of the lines that go on after them, minus that of the siblings, which went on otherwise from the same state: unshaped${discount === 1 ? '' : `, discounted with γ = ${discount}`}, and with the chance of these steps. An interval needs two lines and two siblings that finished.`}
        empty={
          advantages
            ? 'The episode ended before it could branch.'
            : `The tree has more than ${MOST_LINES} leaves. The run has the values of some states.`
        }
        wide
      >
        {advantages && advantages.length > 0 && (
          <FiguresTable
            head={HEAD}
            rows={advantages.map(({ from, to, advantage, value, baseline, lines, siblings, ...interval }) => [
              to - from > 1 ? `${from + 1} to ${to}` : String(from + 1),
              <b>{formatSigned(advantage)}</b>,
              formatInterval(interval),
              formatNumber(value),
              formatCount(lines),
              formatNumber(baseline),
              formatCount(siblings),
            ])}
          />
        )}
      </Card>
    </Section>
  )
}
