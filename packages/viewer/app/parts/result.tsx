import { OUTCOMES } from '@episodic/report/fold/episode-table'
import { type Result, resultOf } from '@episodic/report/query/query-fields'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import { plain } from './plain-text.tsx'

export { type Result, resultOf }

/** The sign and the name of each result: the colour never says it alone. */
export const RESULT_SIGNS: { readonly [result in Result]: { readonly sign: string; readonly name: string } } = {
  succeeded: { sign: '✓', name: 'succeeded' },
  'fell-short': { sign: '✗', name: 'not succeeded' },
  truncated: { sign: '▲', name: 'truncated' },
  failed: { sign: '!', name: 'failed' },
}

export function resultOfRow({ outcome, success }: EpisodeColumns['columns'], row: number): Result {
  return resultOf(OUTCOMES[outcome?.[row] as number]?.kind ?? 'failed', success?.[row] === 1)
}

export function ResultBadge({ result, ending }: { readonly result: Result; readonly ending?: string }) {
  const { sign, name } = RESULT_SIGNS[result]
  return (
    <span class={`one-line ${result}`} title={name}>
      <span class="result-sign" role="img" aria-label={name}>
        {sign}
      </span>
      {ending !== undefined && <> {plain(ending)}</>}
    </span>
  )
}
