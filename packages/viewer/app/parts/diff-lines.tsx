import type { DiffLine, DiffPiece } from './line-diff.ts'
import { PlainText } from './plain-text.tsx'

const SIGNS = { same: ' ', added: '+', removed: '−' } as const
const NAMES = { same: '', added: 'added: ', removed: 'removed: ' } as const

/** One line of two texts that are compared. The sign before it says in which of them it is. */
export function DiffLineView({ line: { mark, pieces } }: { readonly line: DiffLine }) {
  return (
    <div class={`diff-line ${mark}`}>
      <span class="diff-sign" aria-hidden="true">
        {SIGNS[mark]}
      </span>
      {NAMES[mark] && <span class="unseen">{NAMES[mark]}</span>}
      <DiffPieces pieces={pieces} mark={mark} />
    </div>
  )
}

interface DiffPiecesProps {
  readonly pieces: readonly DiffPiece[]
  readonly mark: DiffLine['mark']
}

/** The pieces of a text, those that are only in this one marked. */
export function DiffPieces({ pieces, mark }: DiffPiecesProps) {
  return (
    <>
      {pieces.map(({ text, changed }) => {
        if (!changed) return <PlainText text={text} />
        return mark === 'removed' ? (
          <del>
            <PlainText text={text} />
          </del>
        ) : (
          <ins>
            <PlainText text={text} />
          </ins>
        )
      })}
    </>
  )
}
