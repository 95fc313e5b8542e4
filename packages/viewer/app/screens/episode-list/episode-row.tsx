import type { EpisodeColumns } from '@episodic/report/rows/columns'
import type { RowWords } from '@episodic/report/view/run-entry'
import { code, plain } from '../../parts/plain-text.tsx'
import { ResultBadge, resultOfRow } from '../../parts/result.tsx'
import { shortTask } from '../../parts/short-task.ts'
import { episodeHref } from '../../route/route.ts'
import type { ListColumn } from './list-columns.tsx'

export interface ChosenColumn extends ListColumn {
  readonly cell: ReturnType<ListColumn['cells']>
}

interface EpisodeRowProps {
  readonly run: string
  readonly row: number
  readonly index: number
  readonly current: boolean
  readonly episodes: EpisodeColumns
  readonly words: RowWords | undefined
  readonly columns: readonly ChosenColumn[]
}

export function EpisodeRow({ run, row, index, current, episodes, words, columns }: EpisodeRowProps) {
  const { ending, attempt, try: tries, counts } = episodes.columns
  const counting = counts?.[row] !== 0
  const attempted = attempt?.[row] ?? 0
  const tried = tries?.[row] ?? 0
  return (
    <tr
      class={`${current ? 'chosen ' : ''}${counting ? '' : 'superseded'}`}
      aria-rowindex={index + 2}
      aria-current={current ? 'true' : undefined}
      title={counting ? undefined : 'Another try of this episode counts.'}
    >
      <td>
        <ResultBadge
          result={resultOfRow(episodes.columns, row)}
          ending={episodes.dictionaries.ending[ending?.[row] as number] ?? ''}
        />
      </td>
      <th scope="row">
        {words ? (
          <a
            class="row-link"
            data-index={index}
            href={episodeHref(run, words.task, words.attempt, { try: counting ? null : words.try })}
          >
            {code(shortTask(words.task))}{' '}
            <span class={words.message === null ? 'muted' : 'bad'}>{plain(words.message ?? words.prompt)}</span>
          </a>
        ) : (
          <span class="muted">…</span>
        )}
      </th>
      <td class="number">
        {attempted}
        {tried > 0 && <span class="muted">.{tried}</span>}
      </td>
      {columns.map(({ field, numeric, cell }) => (
        <td key={field} class={numeric ? 'number' : 'clip'}>
          {cell(row, words)}
        </td>
      ))}
    </tr>
  )
}
