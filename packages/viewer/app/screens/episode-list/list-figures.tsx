import { shortBounds } from '@episodic/report/notes/void-notes'
import type { RowFigures } from '@episodic/report/rows/row-figures'
import {
  formatCost,
  formatCount,
  formatInterval,
  formatNumber,
  formatPercent,
  formatShareInterval,
  plural,
} from '@episodic/report/text/format'
import { formatTokens } from '../../parts/amounts.ts'
import { FigureList } from '../../parts/figure-strip.tsx'
import { IntervalBar } from '../../parts/interval-bar.tsx'

interface ListFiguresProps {
  readonly figures: RowFigures
  readonly whole: number
  /** Whether they were chosen by what became of them: then no rate and no mean has an interval. */
  readonly byResult: boolean
}

export function ListFigures({ figures, whole, byResult }: ListFiguresProps) {
  const { finished, failed, tasks, success, unshaped, tokens, cost } = figures
  const counted = `${finished + failed < whole ? ` of ${formatCount(whole)}` : ''}, ${plural(tasks, 'task')}`
  return (
    <div class="list-figures" aria-live="polite">
      <FigureList
        look=""
        figures={[
          [
            'Episodes',
            <>
              <b>{formatCount(finished + failed)}</b>
              <span class="muted">{counted}</span>
            </>,
          ],
          [
            'Success',
            <>
              <b>{formatPercent(success.rate)}</b>{' '}
              {!byResult && (
                <>
                  <IntervalBar value={success.rate} low={success.low} high={success.high} />{' '}
                  <span class="muted">
                    {formatShareInterval(success)} {shortBounds({ ...success, failed })}
                  </span>
                </>
              )}
            </>,
          ],
          [
            'Return',
            <>
              <b>{formatNumber(unshaped?.mean ?? null)}</b>{' '}
              <span class="muted">{unshaped && !byResult && formatInterval(unshaped)}</span>
            </>,
          ],
          failed > 0 && ['Failed', <b class="bad">{formatCount(failed)}</b>],
          tokens !== null && ['Tokens', <b>{formatTokens(tokens)}</b>],
          cost !== null && ['Cost', <b>{formatCost(cost)}</b>],
        ]}
      />
    </div>
  )
}
