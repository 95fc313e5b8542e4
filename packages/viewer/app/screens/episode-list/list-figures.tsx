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
import { NamedFigure } from '../../parts/figure-strip.tsx'
import { IntervalBar } from '../../parts/interval-bar.tsx'

/** The figures of the rows that are shown, as a report of these alone would have them. */
export function ListFigures({
  figures,
  whole,
  byResult,
}: {
  readonly figures: RowFigures
  readonly whole: number
  /** Whether they were chosen by what became of them: then no rate and no mean has an interval. */
  readonly byResult: boolean
}) {
  const { finished, failed, tasks, success, unshaped, tokens, cost } = figures
  return (
    <dl class="list-figures flow loose" aria-live="polite">
      <NamedFigure name="Episodes">
        <b>{formatCount(finished + failed)}</b>
        <span class="muted">
          {finished + failed < whole && ` of ${formatCount(whole)}`}, {formatCount(tasks)}{' '}
          {tasks === 1 ? 'task' : 'tasks'}
        </span>
      </NamedFigure>
      <NamedFigure name="Success">
        <b>{formatPercent(success.rate)}</b>{' '}
        {!byResult && (
          <>
            <IntervalBar value={success.rate} low={success.low} high={success.high} />{' '}
            <span class="muted">
              {formatShareInterval(success)} {shortBounds({ ...success, failed })}
            </span>
          </>
        )}
      </NamedFigure>
      <NamedFigure name="Return">
        <b>{formatNumber(unshaped?.mean ?? null)}</b>{' '}
        <span class="muted">{unshaped && !byResult && formatInterval(unshaped)}</span>
      </NamedFigure>
      {failed > 0 && (
        <NamedFigure name="Failed">
          <b class="bad">{formatCount(failed)}</b>
        </NamedFigure>
      )}
      {tokens !== null && (
        <NamedFigure name="Tokens">
          <b>{formatTokens(tokens)}</b>
        </NamedFigure>
      )}
      {cost !== null && (
        <NamedFigure name="Cost">
          <b>{formatCost(cost)}</b>
        </NamedFigure>
      )}
    </dl>
  )
}
