import { PlainText } from './plain-text.tsx'

/** How an episode ended, as a reader distinguishes it. A truncated episode that its world judges a success is `succeeded`. */
export type Result = 'succeeded' | 'fell-short' | 'truncated' | 'failed'

/** The sign and the name of each result: the colour never says it alone. */
export const RESULTS: { readonly [result in Result]: { readonly sign: string; readonly name: string } } = {
  succeeded: { sign: '✓', name: 'succeeded' },
  'fell-short': { sign: '✗', name: 'not succeeded' },
  truncated: { sign: '▲', name: 'truncated' },
  failed: { sign: '!', name: 'failed' },
}

/** The result of an episode, from its outcome and success. */
export function resultOf(kind: 'failed' | 'terminated' | 'truncated', success: boolean): Result {
  if (kind === 'failed') return 'failed'
  if (success) return 'succeeded'
  return kind === 'truncated' ? 'truncated' : 'fell-short'
}

/** The result of an episode as a sign, with the end's reason or the code of the failure. */
export function ResultBadge({ result, ending }: { readonly result: Result; readonly ending?: string }) {
  const { sign, name } = RESULTS[result]
  return (
    <span class={`result ${result}`} title={name}>
      <span class="result-sign" role="img" aria-label={name}>
        {sign}
      </span>
      {ending !== undefined && (
        <>
          {' '}
          <PlainText text={ending} />
        </>
      )}
    </span>
  )
}
