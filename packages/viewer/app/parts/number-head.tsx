import type { ComponentChildren } from 'preact'

/** The head of a column of figures. */
export function NumberHead({
  title,
  colSpan,
  children,
}: {
  /** What the figure means. */
  readonly title?: string
  readonly colSpan?: number
  readonly children: ComponentChildren
}) {
  return (
    <th scope="col" class="number" {...(title && { title })} {...(colSpan && { colSpan })}>
      {children}
    </th>
  )
}
