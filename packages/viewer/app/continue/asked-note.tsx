import { ErrorNote } from '../parts/notes.tsx'
import { code, plain } from '../parts/plain-text.tsx'
import type { RequestState } from './use-continued.ts'

export function AskedNote({ state, onAgree }: { readonly state: RequestState; readonly onAgree: () => void }) {
  const { problem, cost, files, isBusy } = state
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
      {files && <p role="status">Written: {files.map((path) => [code(path), ' '])}</p>}
    </>
  )
}
