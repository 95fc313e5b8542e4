import type { ComponentChildren } from 'preact'

/** A figure with its name above and notes below. */
export interface Figure {
  readonly name: string
  readonly value: string
  readonly notes: readonly string[]
}

/** The main figures in a row. */
export function FigureStrip({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="figure-strip">
      {figures.map(({ name, value, notes }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="figure">{value}</dd>
          {notes.filter(Boolean).map((note) => (
            <dd key={note} class="figure-note">
              {note}
            </dd>
          ))}
        </div>
      ))}
    </dl>
  )
}

/** One figure of a list, with its name. */
export function NamedFigure({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
