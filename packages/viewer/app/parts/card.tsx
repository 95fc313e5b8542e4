import type { ComponentChildren } from 'preact'

interface SectionProps {
  readonly title: ComponentChildren
  readonly children: ComponentChildren
}

export function Section({ title, children }: SectionProps) {
  return (
    <section class="figures">
      <h2>{title}</h2>
      <div class="cards">{children}</div>
    </section>
  )
}

interface CardProps {
  readonly title: ComponentChildren
  readonly caption?: ComponentChildren
  /** Shown instead of content that is `null` or `false`. */
  readonly empty?: string
  readonly wide?: boolean
  readonly children?: ComponentChildren
}

/** A titled box; without content it says why it is empty. */
export function Card({ title, caption, empty, wide = false, children }: CardProps) {
  const isEmpty = children === null || children === undefined || children === false
  return (
    <div class={wide ? 'card wide' : 'card'}>
      <h3>{title}</h3>
      {caption && <p class="caption">{caption}</p>}
      {isEmpty ? empty !== undefined && <p class="nothing">{empty}</p> : children}
    </div>
  )
}
