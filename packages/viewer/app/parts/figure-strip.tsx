import type { ComponentChildren } from 'preact'

export interface Figure {
  readonly name: string
  readonly value: string
  readonly notes: readonly string[]
}

export function FigureStrip({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="frame figure-strip">
      {figures.map(({ name, value, notes }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="figure">{value}</dd>
          {notes.filter(Boolean).map((note) => (
            <dd key={note} class="muted small">
              {note}
            </dd>
          ))}
        </div>
      ))}
    </dl>
  )
}

interface NamedFigureProps {
  readonly name: string
  readonly title?: string
  /** Whether it has a colour in the plot of times. */
  readonly swatch?: boolean
  readonly children: ComponentChildren
}

export function NamedFigure({ name, title, swatch = false, children }: NamedFigureProps) {
  return (
    <div title={title}>
      <dt>
        {swatch && <span class={`key ${name}`} aria-hidden="true" />}
        {name}
      </dt>
      <dd>{children}</dd>
    </div>
  )
}
