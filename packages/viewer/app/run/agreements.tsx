import type { AgreementFigure } from '@episodic/report/grades/agreement'
import type { GraderAgreement, GradeSummary } from '@episodic/report/grades/grade-summary'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import {
  formatCount,
  formatInterval,
  formatNumber,
  formatPercent,
  formatShareInterval,
  plural,
} from '@episodic/report/text/format'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Card } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { IntervalBar } from '../parts/interval-bar.tsx'
import { plain } from '../parts/plain-text.tsx'
import { PlaceLinks } from './place-links.tsx'

interface AgreementsProps {
  readonly summary: GradeSummary
  readonly nameOf: (key: string) => ComponentChildren
  /** Its id, for links; `null` on paper. */
  readonly run: string | null
  readonly columns: EpisodeColumns | null
}

export function Agreements({ summary: { agreements, alphas }, nameOf, run, columns }: AgreementsProps) {
  const [chosen, setChosen] = useState(0)
  const pair = agreements[chosen] ?? agreements[0]
  return (
    <Card
      title="Agreement"
      caption="Of two graders, on the episodes that both judged. Scores agree if they differ by at most 0.1. κ is 0 where they agree as often as by chance, and 1 where always. Intervals are by 2,000 draws of tasks."
      wide
    >
      <FiguresTable
        head={['Grader', 'And', 'Episodes', 'Agree', '95 %', 'κ', '', '95 %', ...(run === null ? [] : [''])]}
        texts={2}
        rows={agreements.map(({ a, b, episodes, agree, kappa }, i) => [
          nameOf(a),
          nameOf(b),
          formatCount(episodes),
          formatPercent(agree.value),
          formatShareInterval(agree),
          formatNumber(kappa.value),
          <IntervalBar {...kappa} from={-1} />,
          formatInterval(kappa),
          ...(run === null
            ? []
            : [
                <button
                  type="button"
                  class="button small"
                  aria-pressed={pair === agreements[i]}
                  onClick={() => setChosen(i)}
                >
                  Matrix
                </button>,
              ]),
        ])}
      />
      {alphas.map((alpha) => (
        <p key={alpha.name} class="block">
          Krippendorff’s α of the {formatCount(alpha.graders)} who judge {plain(alpha.name)}:{' '}
          <b>{formatNumber(alpha.value)}</b> {intervalOf(alpha)}
        </p>
      ))}
      {pair && <Matrix key={chosen} pair={pair} nameOf={nameOf} run={run} columns={columns} />}
    </Card>
  )
}

interface MatrixProps {
  readonly pair: GraderAgreement
  readonly nameOf: (key: string) => ComponentChildren
  readonly run: string | null
  readonly columns: EpisodeColumns | null
}

function Matrix({ pair: { a, b, values, matrix }, nameOf, run, columns }: MatrixProps) {
  const [open, setOpen] = useState<readonly [row: number, column: number] | null>(null)
  const [row = -1, column = -1] = open ?? []
  const places = matrix[row]?.[column] ?? []
  const cell = (i: number, j: number) => {
    const found = matrix[i]?.[j] ?? []
    if (found.length === 0) return <span class="muted">0</span>
    if (run === null) return formatCount(found.length)
    const isOpen = i === row && j === column
    return (
      <button
        type="button"
        class="button small"
        aria-expanded={isOpen}
        aria-label={`${plural(found.length, 'episode')}: ${wordOf(values[i])} by the first, ${wordOf(values[j])} by the second`}
        onClick={() => setOpen(isOpen ? null : [i, j])}
      >
        {formatCount(found.length)}
      </button>
    )
  }
  return (
    <>
      <p class="caption block">
        Rows: {nameOf(a)}. Columns: {nameOf(b)}.
      </p>
      <FiguresTable
        look={['scroll', 'confusion']}
        head={['', ...values.map((value) => plain(wordOf(value)))]}
        rows={values.map((value, i) => [
          plain(wordOf(value)),
          ...values.map((_, j) => (i === j ? <b>{cell(i, j)}</b> : cell(i, j))),
        ])}
      />
      {run !== null && columns && places.length > 0 && <PlaceLinks run={run} places={places} columns={columns} />}
    </>
  )
}

function wordOf(value = ''): string {
  return value === 'true' ? 'yes' : value === 'false' ? 'no' : value
}

function intervalOf({ low, high }: AgreementFigure): string {
  return low === null ? '' : `(95 % ${formatInterval({ low, high })})`
}
