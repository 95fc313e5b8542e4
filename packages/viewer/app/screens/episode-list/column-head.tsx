import { formatOrder, nextOrder, type Order } from '../../list/sort-rows.ts'
import { plain } from '../../parts/plain-text.tsx'

interface ColumnHeadProps {
  readonly field: string
  readonly title: string
  readonly explained?: string | undefined
  readonly numeric?: boolean
  readonly order: Order | null
  onSort(sort: string): void
}

export function ColumnHead({ field, title, explained, numeric = false, order, onSort }: ColumnHeadProps) {
  const own = order?.field === field ? order : null
  return (
    <th
      class={numeric ? 'number' : ''}
      aria-sort={own ? (own.descending ? 'descending' : 'ascending') : undefined}
      title={explained}
    >
      <button type="button" class="bare" onClick={() => onSort(formatOrder(nextOrder(order, field)))}>
        {plain(title)}
        <span class="small" aria-hidden="true">
          {own ? (own.descending ? '▼' : '▲') : ''}
        </span>
      </button>
    </th>
  )
}
