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

/** A name, its figure and what explains it; `null` or `false` for what is left out. */
export type NamedFigure = readonly [name: string, figure: ComponentChildren, title?: string] | null | false

/** Parts of the time of an episode, by their names, which have a colour in its plot. */
const TIMES: readonly string[] = ['model', 'world', 'waited']

export function FigureList({ look, figures }: { readonly look: string; readonly figures: readonly NamedFigure[] }) {
  return (
    <dl class={`${look} flow loose`}>
      {figures.map(
        (figure) =>
          figure && (
            <div key={figure[0]} title={figure[2]}>
              <dt>
                {TIMES.includes(figure[0]) && <span class={`key ${figure[0]}`} aria-hidden="true" />}
                {figure[0]}
              </dt>
              <dd>{figure[1]}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
