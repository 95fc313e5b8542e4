import type { Summary } from '@episodic/report/fold/summary'
import { totalTokens } from '@episodic/report/fold/token-fold'
import { shortBounds } from '@episodic/report/notes/void-notes'
import {
  formatCount,
  formatInterval,
  formatNumber,
  formatPercent,
  formatShareInterval,
} from '@episodic/report/text/format'
import { formatTokens } from '../parts/amounts.ts'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { plain } from '../parts/plain-text.tsx'

const HEAD = [
  'Seat',
  'Policy',
  'Success',
  '95 %',
  'Return',
  '95 %',
  'Steps',
  'Refused',
  'Tokens',
  'Failed at this seat',
]

export function Seats({ summary: { seats, counts } }: { readonly summary: Summary }) {
  if (!seats) return null
  const focus = seats.find((seat) => seat.focus)?.name ?? ''
  return (
    <Section title="Seats">
      <Card
        title="Figures of each seat"
        caption={
          <>All other figures of this page are those of {plain(focus)}. A failed episode has no return for any seat.</>
        }
        wide
      >
        <FiguresTable
          head={counts.failed > 0 ? [...HEAD, 'Success with failed'] : HEAD}
          texts={2}
          rows={seats.map(
            ({ name, focus: isFocus, policies, success, return: earned, steps, refused, tokens, faults }) => [
              <>
                {plain(name)} {isFocus && <span class="badge">focus</span>}
              </>,
              plain(policies.join(', ')),
              formatPercent(success.rate),
              formatShareInterval(success),
              formatNumber(earned?.mean ?? null),
              earned ? formatInterval(earned) : '',
              formatCount(steps),
              formatCount(refused),
              tokens ? formatTokens(totalTokens(tokens)) : '',
              formatCount(faults),
              ...(counts.failed > 0 ? [shortBounds({ ...success, failed: counts.failed })] : []),
            ],
          )}
        />
      </Card>
    </Section>
  )
}
