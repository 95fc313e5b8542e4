import { type EpisodeColumns, OUTCOMES, type RowWords, resultOf } from '@episodic/report'
import { PlainText } from '../../parts/plain-text.tsx'
import { ResultBadge } from '../../parts/result.tsx'
import { shortTask } from '../../parts/short-task.ts'
import { formatRoute } from '../../route/route.ts'
import type { ListColumn } from './list-columns.tsx'

/** A chosen column with the reader of its cells. */
export interface ChosenColumn extends ListColumn {
  readonly cell: ReturnType<ListColumn['cells']>
}

interface EpisodeRowProps {
  readonly run: string
  readonly row: number
  /** Its place in the list, from 0. */
  readonly index: number
  readonly current: boolean
  readonly episodes: EpisodeColumns
  readonly words: RowWords | undefined
  readonly columns: readonly ChosenColumn[]
}

/** One episode in the list. The link of its task covers the whole row. */
export function EpisodeRow({ run, row, index, current, episodes, words, columns }: EpisodeRowProps) {
  const { outcome, success, ending, attempt, try: tries, counts } = episodes.columns
  const { kind } = OUTCOMES[outcome?.[row] as number] ?? { kind: 'failed' as const }
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
          result={resultOf(kind, success?.[row] === 1)}
          ending={episodes.dictionaries.ending[ending?.[row] as number] ?? ''}
        />
      </td>
      <th scope="row">
        {words ? (
          <a
            class="row-link"
            data-index={index}
            href={formatRoute({
              screen: 'episode',
              run,
              task: words.task,
              attempt: words.attempt,
              try: counting ? null : words.try,
              step: null,
              tab: 'transcript',
            })}
          >
            <code>
              <PlainText text={shortTask(words.task)} />
            </code>{' '}
            <span class={words.message === null ? 'row-words' : 'row-words bad'}>
              <PlainText text={words.message ?? words.prompt} />
            </span>
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
