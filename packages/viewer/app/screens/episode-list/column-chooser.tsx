import { useClosingBox } from '../../parts/closing-box.ts'
import { plain } from '../../parts/plain-text.tsx'
import type { ListColumn } from './list-columns.tsx'

interface ColumnChooserProps {
  readonly columns: readonly ListColumn[]
  readonly chosen: readonly string[]
  /** With all chosen fields in the order of the columns; `null` for those that fit the run. */
  onChange(fields: readonly string[] | null): void
}

export function ColumnChooser({ columns, chosen, onChange }: ColumnChooserProps) {
  const box = useClosingBox()
  return (
    <details class="popover" ref={box}>
      <summary class="button">Columns</summary>
      <fieldset class="frame popover-list">
        <legend class="unseen">Columns</legend>
        {columns.map(({ field, title, explained }) => (
          <label key={field} title={explained}>
            <input
              type="checkbox"
              checked={chosen.includes(field)}
              onChange={() =>
                onChange(
                  columns.map((column) => column.field).filter((one) => chosen.includes(one) !== (one === field)),
                )
              }
            />{' '}
            {plain(title)}
          </label>
        ))}
        <button type="button" class="button" onClick={() => onChange(null)}>
          As by default
        </button>
      </fieldset>
    </details>
  )
}
