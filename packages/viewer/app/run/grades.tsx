import type { GradeRecord } from '@episodic/report'
import { formatCount, formatNumber, formatPercent } from '@episodic/report'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { PlainText } from '../parts/plain-text.tsx'

/** What graders said about the episodes of a run. Verdicts change no reward and no other figure. */
export function Grades({ grades }: { readonly grades: readonly GradeRecord[] }) {
  const graders = [
    ...Map.groupBy(grades, ({ grader }) => [grader.kind, grader.name, grader.version, grader.who ?? ''].join('\n')),
  ]
  return (
    <Section title="Grades">
      <Card
        title={graders.length === 0 ? 'None' : `${formatCount(graders.length)} graders`}
        caption="Verdicts lie beside the run: they change no reward and no other figure."
        empty="No episode was graded. `episodic grade` does it."
        wide
      >
        {graders.length > 0 && (
          <FiguresTable
            head={['Grader', 'Kind', 'Verdicts', 'Undecided', 'Passed', 'Mean']}
            texts={2}
            rows={graders.map(([key, records]) => graderRow(key, records))}
          />
        )}
      </Card>
    </Section>
  )
}

function graderRow(key: string, records: readonly GradeRecord[]) {
  const [kind = '', name = '', version = '', who = ''] = key.split('\n')
  const latest = [...Map.groupBy(records, ({ seal, vote }) => `${vote} ${seal}`).values()].map((votes) =>
    votes.reduce((best, vote) => (vote.revision > best.revision ? vote : best)),
  )
  const values = latest.map(({ value }) => value)
  const flags = values.filter((value) => typeof value === 'boolean')
  const scores = values.filter((value) => typeof value === 'number')
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
  return [
    <PlainText text={who ? `${name}, by ${who}` : `${name} ${version}`} />,
    kind,
    formatCount(values.filter((value) => value !== null).length),
    formatCount(values.filter((value) => value === null).length),
    flags.length > 0 ? formatPercent(flags.filter(Boolean).length / flags.length) : '',
    scores.length > 0 ? formatNumber(mean) : '',
  ]
}
