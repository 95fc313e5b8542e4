import type { ComponentChildren } from 'preact'

type Cells = readonly ComponentChildren[]

export interface Figures {
  readonly head: Cells
  readonly rows: readonly Cells[]
  /** How many of the first columns are texts; the others are figures, to the right. Default 1. */
  readonly texts?: number
}

interface FiguresTableProps extends Figures {
  readonly foot?: Cells
  /** The classes of the frame and of the table. Default: for a card. */
  readonly look?: readonly [frame: string, table: string]
  /** If these rows are a page of a longer table: how many are before them, and how many there are in all. */
  readonly part?: readonly [from: number, count: number]
  readonly chosen?: number
  readonly sorted?: readonly [column: number, order: 'ascending' | 'descending']
}

export function FiguresTable({ head, rows, texts = 1, foot, look, part, chosen, sorted }: FiguresTableProps) {
  const [frame, table] = look ?? ['scroll', 'even']
  const kind = (i: number) => (i >= texts ? 'number' : undefined)
  const row = (cells: Cells, i?: number) => (
    <tr
      key={i}
      aria-rowindex={part && i !== undefined ? part[0] + i + 2 : undefined}
      aria-current={i !== undefined && i === chosen ? 'step' : undefined}
    >
      {cells.map((content, column) => (
        <td key={column} class={kind(column)}>
          {content}
        </td>
      ))}
    </tr>
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls has to be reached by keys
    <div class={frame} tabIndex={0}>
      <table class={table} aria-rowcount={part && part[1] + 1}>
        <thead>
          <tr>
            {head.map((name, i) =>
              name === '' ? (
                <td key={i} />
              ) : (
                <th key={i} scope="col" class={kind(i)} aria-sort={sorted?.[0] === i ? sorted[1] : undefined}>
                  {name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{rows.map(row)}</tbody>
        {foot && <tfoot>{row(foot)}</tfoot>}
      </table>
    </div>
  )
}
