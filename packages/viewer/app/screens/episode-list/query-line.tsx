import type { QueryProblem } from '@episodic/report/query/parse-query'
import { useEffect, useRef, useState } from 'preact/hooks'

export const QUERY_LINE = 'query-line'

/** Milliseconds after the last key until a query is applied. */
const PAUSE = 120

interface QueryLineProps {
  readonly query: string
  readonly problems: readonly QueryProblem[]
  onChange(query: string): void
}

export function QueryLine({ query, problems, onChange }: QueryLineProps) {
  const [text, setText] = useState(query)
  const sent = useRef(query)
  const marks = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // A chip, or the history, has changed the query: it is not what was written here.
  useEffect(() => {
    if (query !== sent.current) setText(query)
    sent.current = query
  }, [query])
  const write = (written: string) => {
    setText(written)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      sent.current = written
      onChange(written)
    }, PAUSE)
  }
  const follow = () => {
    if (marks.current && field.current) marks.current.scrollLeft = field.current.scrollLeft
  }
  return (
    <div class="query-line">
      <div class="query-field">
        {text === query && (
          <div class="query-marks" ref={marks} aria-hidden="true">
            {markedParts(text, problems).map(({ part, wrong }) => (wrong ? <mark>{part}</mark> : part))}
          </div>
        )}
        <input
          id={QUERY_LINE}
          ref={field}
          type="search"
          value={text}
          placeholder={'success:no  tag:wide  steps>10  term.cost<-0.2  "some words"'}
          aria-label="Query"
          aria-invalid={problems.length > 0}
          aria-describedby="query-problems"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={({ currentTarget }) => write(currentTarget.value)}
          onScroll={follow}
        />
      </div>
      <div id="query-problems" role="status">
        {problems.length > 0 && (
          <ul class="bad">
            {problems.map(({ from, to, message }) => (
              <li key={from}>
                <button
                  type="button"
                  class="button small"
                  title="Show where"
                  onClick={() => {
                    field.current?.focus()
                    field.current?.setSelectionRange(from, to)
                  }}
                >
                  <code>{query.slice(from, to)}</code>
                </button>{' '}
                {message}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

export function markedParts(
  text: string,
  problems: readonly QueryProblem[],
): { readonly part: string; readonly wrong: boolean }[] {
  const parts: { part: string; wrong: boolean }[] = []
  let at = 0
  for (const { from, to } of problems.toSorted((a, b) => a.from - b.from)) {
    const start = Math.max(at, from)
    if (start >= to) continue
    if (start > at) parts.push({ part: text.slice(at, start), wrong: false })
    parts.push({ part: text.slice(start, to), wrong: true })
    at = to
  }
  if (at < text.length) parts.push({ part: text.slice(at), wrong: false })
  return parts
}
