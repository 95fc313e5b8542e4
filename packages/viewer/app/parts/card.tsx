import type { ComponentChildren } from 'preact'

/** A heading with cards, two beside each other where there is room. */
export function Section({
  title,
  children,
}: {
  readonly title: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <section class="figures">
      <h2>{title}</h2>
      <div class="cards">{children}</div>
    </section>
  )
}

/** A titled box; without content it says why it is empty. */
export function Card({
  title,
  caption,
  empty,
  wide = false,
  children,
}: {
  readonly title: ComponentChildren
  readonly caption?: ComponentChildren
  /** Shown instead of content that is `null` or `false`. */
  readonly empty?: string
  /** Over the whole width. */
  readonly wide?: boolean
  readonly children?: ComponentChildren
}) {
  const isEmpty = children === null || children === undefined || children === false
  return (
    <div class={wide ? 'card wide' : 'card'}>
      <h3>{title}</h3>
      {caption && <p class="caption">{caption}</p>}
      {isEmpty ? empty !== undefined && <p class="nothing">{empty}</p> : children}
    </div>
  )
}
