import type { DiffLine, DiffPiece } from './line-diff.ts'
import { plain } from './plain-text.tsx'

const SIGNS = { same: ' ', added: '+', removed: '−' } as const
const NAMES = { same: '', added: 'added: ', removed: 'removed: ' } as const

export function DiffLineView({ line: { mark, pieces } }: { readonly line: DiffLine }) {
  return (
    <div class={`diff-line wrap ${mark}`}>
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

export function DiffPieces({ pieces, mark }: DiffPiecesProps) {
  return (
    <>
      {pieces.map(({ text, changed }) => {
        if (!changed) return plain(text)
        return mark === 'removed' ? <del>{plain(text)}</del> : <ins>{plain(text)}</ins>
      })}
    </>
  )
}
