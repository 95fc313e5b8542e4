import type { ComponentChildren } from 'preact'

export function Key({ of, children }: { readonly of: string; readonly children: ComponentChildren }) {
  return (
    <li>
      <i class={`key ${of}`} />
      {children}
    </li>
  )
}
