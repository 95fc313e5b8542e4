import type { ComponentChildren } from 'preact'

export interface Figures {
  readonly head: readonly string[]
  readonly rows: readonly (readonly ComponentChildren[])[]
  /** How many of the first columns are texts; the others are figures, to the right. Default 1. */
  readonly texts?: number
}

/** A table of texts and figures, which scrolls in its own frame if it is wide. */
export function FiguresTable({ head, rows, texts = 1 }: Figures) {
  const kind = (i: number) => (i >= texts ? 'number' : undefined)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls has to be reached by keys
    <div class="scroll" tabIndex={0}>
      <table class="even">
        <thead>
          <tr>
            {head.map((name, i) =>
              name === '' ? (
                <td key={i} />
              ) : (
                <th key={i} scope="col" class={kind(i)}>
                  {name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((content, i) => (
                <td key={i} class={kind(i)}>
                  {content}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
