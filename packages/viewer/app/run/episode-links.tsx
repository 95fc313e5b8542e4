import type { EpisodeColumns } from '@episodic/report/rows/columns'
import { formatNumber, plural } from '@episodic/report/text/format'
import { ErrorNote, LoadingNote } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import { ResultBadge, resultOfRow } from '../parts/result.tsx'
import { episodeHref } from '../route/route.ts'
import { useLoaded } from '../source/use-source.ts'

interface EpisodeLinksProps {
  readonly run: string
  /** At most 200. */
  readonly rows: readonly number[]
  /** With at least the outcomes, successes, endings, steps and unshaped returns. */
  readonly columns: EpisodeColumns
}

export function EpisodeLinks({ run, rows, columns: { columns, dictionaries } }: EpisodeLinksProps) {
  const words = useLoaded((source) => source.words(run, rows), [run, rows.join()])
  if (words.error) return <ErrorNote error={words.error} />
  if (!words.value) return <LoadingNote />
  return (
    <ul class="episode-links">
      {words.value.map(({ row, task, attempt, try: number, prompt }) => {
        const unshaped = columns.unshaped?.[row] ?? Number.NaN
        return (
          <li key={row}>
            <a href={episodeHref(run, task, attempt, { try: number || null })}>
              <ResultBadge
                result={resultOfRow(columns, row)}
                ending={dictionaries.ending[columns.ending?.[row] ?? 0] ?? ''}
              />
              <span class="muted">
                {Number.isNaN(unshaped) ? '' : `${formatNumber(unshaped)} · `}
                {plural(columns.steps?.[row] ?? 0, 'step')} · attempt {attempt}
              </span>
              <span class="muted clip one-line">{plain(prompt)}</span>
            </a>
          </li>
        )
      })}
    </ul>
  )
}
