import {
  formatCost,
  formatCount,
  formatInterval,
  formatNumber,
  formatPercent,
  formatShareInterval,
  type RowFigures,
  shortBounds,
} from '@episodic/report'
import { formatTokens } from '../../parts/amounts.ts'
import { IntervalBar } from '../../parts/interval-bar.tsx'

/** The figures of the rows that are shown, as a report of these alone would have them. */
export function ListFigures({ figures, whole }: { readonly figures: RowFigures; readonly whole: number }) {
  const { finished, failed, tasks, success, unshaped, tokens, cost } = figures
  return (
    <dl class="list-figures" aria-live="polite">
      <div>
        <dt>Episodes</dt>
        <dd>
          <b>{formatCount(finished + failed)}</b>
          <span class="muted">
            {finished + failed < whole && ` of ${formatCount(whole)}`}, {formatCount(tasks)}{' '}
            {tasks === 1 ? 'task' : 'tasks'}
          </span>
        </dd>
      </div>
      <div>
        <dt>Success</dt>
        <dd>
          <b>{formatPercent(success.rate)}</b>{' '}
          <IntervalBar value={success.rate} low={success.low} high={success.high} />{' '}
          <span class="muted">
            {formatShareInterval(success)} {shortBounds({ ...success, failed })}
          </span>
        </dd>
      </div>
      <div>
        <dt>Return</dt>
        <dd>
          <b>{formatNumber(unshaped?.mean ?? null)}</b>{' '}
          <span class="muted">{unshaped && formatInterval(unshaped)}</span>
        </dd>
      </div>
      {failed > 0 && (
        <div>
          <dt>Failed</dt>
          <dd>
            <b class="bad">{formatCount(failed)}</b>
          </dd>
        </div>
      )}
      {tokens !== null && (
        <div>
          <dt>Tokens</dt>
          <dd>
            <b>{formatTokens(tokens)}</b>
          </dd>
        </div>
      )}
      {cost !== null && (
        <div>
          <dt>Cost</dt>
          <dd>
            <b>{formatCost(cost)}</b>
          </dd>
        </div>
      )}
    </dl>
  )
}
