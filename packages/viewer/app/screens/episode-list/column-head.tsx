import { formatOrder, nextOrder, type Order } from '../../list/sort-rows.ts'
import { PlainText } from '../../parts/plain-text.tsx'

interface ColumnHeadProps {
  readonly field: string
  readonly title: string
  readonly explained?: string | undefined
  readonly numeric?: boolean
  readonly order: Order | null
  onSort(sort: string): void
}

/** The head of a column, which sorts by it. */
export function ColumnHead({ field, title, explained, numeric = false, order, onSort }: ColumnHeadProps) {
  const own = order?.field === field ? order : null
  return (
    <th
      class={numeric ? 'number' : ''}
      aria-sort={own ? (own.descending ? 'descending' : 'ascending') : undefined}
      title={explained}
    >
      <button type="button" class="head-sort" onClick={() => onSort(formatOrder(nextOrder(order, field)))}>
        <PlainText text={title} />
        <span class="head-sort-sign" aria-hidden="true">
          {own ? (own.descending ? '▼' : '▲') : ''}
        </span>
      </button>
    </th>
  )
}
