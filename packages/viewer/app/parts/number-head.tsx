import type { ComponentChildren } from 'preact'

interface NumberHeadProps {
  /** What the figure means. */
  readonly title?: string
  readonly colSpan?: number
  readonly children: ComponentChildren
}

/** The head of a column of figures. */
export function NumberHead({ title, colSpan, children }: NumberHeadProps) {
  return (
    <th scope="col" class="number" {...(title && { title })} {...(colSpan && { colSpan })}>
      {children}
    </th>
  )
}
