import type { ComponentChildren } from 'preact'
import type { SourceError } from '../source/source.ts'
import type { Loaded } from '../source/use-source.ts'
import { plain } from './plain-text.tsx'

interface ErrorNoteProps {
  readonly error: SourceError
  readonly whole?: boolean
}

export function ErrorNote({ error, whole = false }: ErrorNoteProps) {
  return (
    <div class="note callout" role="alert">
      {whole && <h1 class="unseen">This cannot be shown</h1>}
      <p>
        <b class="bad" aria-hidden="true">
          !
        </b>{' '}
        {plain(error.message)} <code class="muted">{error.code}</code>
      </p>
    </div>
  )
}

interface EmptyNoteProps {
  readonly title: string
  readonly whole?: boolean
  readonly children?: ComponentChildren
}

export function EmptyNote({ title, whole = false, children }: EmptyNoteProps) {
  return (
    <div class="note empty">
      {whole ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  )
}

/** It shows itself only after a moment, so that fast answers do not flicker. */
export function LoadingNote({ children = 'Loading …' }: { readonly children?: ComponentChildren }) {
  return (
    <p class="note loading" role="status">
      {children}
    </p>
  )
}

export function WhenLoaded<T>({
  of: { value, error },
  children,
}: {
  readonly of: Loaded<T>
  readonly children: (value: T) => ComponentChildren
}) {
  if (value !== null) return <>{children(value)}</>
  return error ? <ErrorNote whole error={error} /> : <LoadingNote />
}
