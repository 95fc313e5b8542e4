import type { Json } from '@episodic/protocol'
import { formatBytes } from '@episodic/report/text/format'
import { useContext } from 'preact/hooks'
import { Fold } from './folds.tsx'
import { FoundContext, FoundText } from './found-text.tsx'
import { countMatches } from './matches.ts'

const MOST_INLINE = 160

/** A JSON value in one line; a long one opens to one line for each of its values. */
export function JsonText({ id, value }: { readonly id: string; readonly value: Json }) {
  const wanted = useContext(FoundContext)
  const text = JSON.stringify(value)
  if (text.length <= MOST_INLINE)
    return (
      <code class="json wrap">
        <FoundText text={text} />
      </code>
    )
  const summary = (
    <>
      <code class="json wrap">
        <FoundText text={`${text.slice(0, MOST_INLINE - 40).toWellFormed()}…`} />
      </code>{' '}
      <span class="muted">{formatBytes(text.length)}</span>
    </>
  )
  return (
    <Fold id={id} summary={summary} open={countMatches([text], wanted) > 0}>
      {() => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reached by keys
        <pre class="json wrap" tabIndex={0}>
          <FoundText text={JSON.stringify(value, null, 2)} />
        </pre>
      )}
    </Fold>
  )
}
