import { ErrorNote } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import type { Start } from './use-continued.ts'

/** What keeps a start from playing. */
export function StartNote({ state, onAgree }: { readonly state: Start; readonly onAgree: () => void }) {
  const { problem, cost, isBusy } = state
  return (
    <>
      {problem && <ErrorNote error={problem} />}
      {cost !== undefined && (
        <div class="callout warning" role="alert">
          <p>{plain(cost)}</p>
          <button type="button" class="button" disabled={isBusy} onClick={onAgree}>
            Play, and pay for it
          </button>
        </div>
      )}
    </>
  )
}
