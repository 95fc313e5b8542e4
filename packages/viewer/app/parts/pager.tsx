import { formatCount } from '@episodic/report/text/format'

interface PagerProps {
  readonly name: string
  readonly from: number
  readonly size: number
  readonly count: number
  readonly onPage: (page: number) => void
}

export function Pager({ name, from, size, count, onPage }: PagerProps) {
  if (count <= size) return null
  const page = from / size
  return (
    <nav class="pages flow mid" aria-label={`Pages of ${name}`}>
      <button type="button" class="button" disabled={from === 0} onClick={() => onPage(page - 1)}>
        ‹ before
      </button>
      <span>
        {formatCount(from + 1)} to {formatCount(Math.min(from + size, count))} of {formatCount(count)}
      </span>
      <button type="button" class="button" disabled={from + size >= count} onClick={() => onPage(page + 1)}>
        after ›
      </button>
    </nav>
  )
}
