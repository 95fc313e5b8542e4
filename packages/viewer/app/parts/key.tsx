import type { ComponentChildren } from 'preact'

/** One entry of a legend: the colour of a kind, and what it means. */
export function Key({ of, children }: { readonly of: string; readonly children: ComponentChildren }) {
  return (
    <li>
      <i class={`key ${of}`} />
      {children}
    </li>
  )
}
