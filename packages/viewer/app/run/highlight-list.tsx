import type { Summary } from '@episodic/report/fold/summary'
import { disagreements } from '@episodic/report/grades/disagreements'
import type { GradeSummary } from '@episodic/report/grades/grade-summary'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import { findHighlights, type Highlight, type HighlightReason } from '@episodic/report/rows/highlights'
import { formatCount, plural } from '@episodic/report/text/format'
import { useMemo, useState } from 'preact/hooks'
import { plainString } from '../parts/signs.ts'
import { EpisodeLinks } from './episode-links.tsx'
import { PlaceLinks } from './place-links.tsx'

interface HighlightListProps {
  readonly run: string
  readonly summary: Summary
  readonly columns: EpisodeColumns
  readonly grades: GradeSummary | null
}

export function HighlightList({ run, summary, columns, grades }: HighlightListProps) {
  const found = useMemo(() => findHighlights(columns), [columns])
  const [open, setOpen] = useState<HighlightReason | 'disagreement' | null>(null)
  const apart = useMemo(() => (grades ? disagreements(grades) : []), [grades])
  const chosen = found.find(({ reason }) => reason === open)
  if (found.length === 0 && apart.length === 0) return null
  return (
    <section class="look-first flow block" aria-label="Look first">
      <h2>Look first</h2>
      <ul class="reasons flow tight">
        {found.map((item) => (
          <li key={item.reason}>
            <button
              type="button"
              class={`pill ${item.reason}`}
              aria-expanded={item.reason === open}
              onClick={() => setOpen(item.reason === open ? null : item.reason)}
            >
              {formatReason(item, summary)}
            </button>
          </li>
        ))}
        {apart.length > 0 && (
          <li>
            <button
              type="button"
              class="pill"
              aria-expanded={open === 'disagreement'}
              onClick={() => setOpen(open === 'disagreement' ? null : 'disagreement')}
            >
              {formatCount(apart.length)} where judge and person disagree
            </button>
          </li>
        )}
      </ul>
      {open === 'disagreement' && apart.length > 0 && (
        <div class="card">
          <PlaceLinks run={run} places={apart} columns={columns} />
        </div>
      )}
      {chosen && (
        <div class="card">
          {chosen.count > chosen.rows.length && (
            <p class="caption">
              The first {formatCount(chosen.rows.length)} of {formatCount(chosen.count)}.
            </p>
          )}
          <EpisodeLinks run={run} rows={chosen.rows} columns={columns} />
        </div>
      )}
    </section>
  )
}

function formatReason({ reason, count }: Highlight, { failures }: Summary): string {
  const number = formatCount(count)
  switch (reason) {
    case 'failed': {
      const kinds = failures.slice(0, 3).map(({ name, count: of }) => `${plainString(name)} ${formatCount(of)}`)
      return `${number} failed (${[...kinds, ...(failures.length > 3 ? ['…'] : [])].join(', ')})`
    }
    case 'no-variance':
      return `${plural(count, 'group')} without variance`
    case 'refused':
      return `${number} refused more than half of their steps`
    case 'truncated':
      return `${number} truncated`
    case 'cut':
      return `${number} with texts cut`
    case 'longest':
      return `${number} longest`
    case 'dearest':
      return `${number} most expensive`
  }
}
