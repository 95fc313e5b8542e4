import type { ComponentChildren } from 'preact'

interface NumberHeadProps {
  readonly title?: string
  readonly colSpan?: number
  readonly children: ComponentChildren
}

export function NumberHead({ title, colSpan, children }: NumberHeadProps) {
  return (
    <th scope="col" class="number" {...(title && { title })} {...(colSpan && { colSpan })}>
      {children}
    </th>
  )
}
