import { type ComponentChildren, createContext } from 'preact'
import { useContext, useMemo, useState } from 'preact/hooks'

/** Which parts of a screen are open. It outlives the parts, which are not all rendered at once. */
export interface Folds {
  isOpen(id: string, standard: boolean): boolean
  set(id: string, open: boolean): void
  setAll(kind: string, open: boolean): void
}

export const FoldsContext = createContext<Folds>({ isOpen: (_, standard) => standard, set: () => {}, setAll: () => {} })

/** Creates what {@link FoldsContext} provides. Ids begin with their kind and a colon. */
export function useFolds(): Folds {
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(() => new Map())
  return useMemo(
    () => ({
      isOpen: (id, standard) => chosen.get(id) ?? chosen.get(kindOf(id)) ?? standard,
      set: (id, open) => setChosen((before) => new Map(before).set(id, open)),
      setAll: (kind, open) =>
        setChosen((before) => new Map([...before].filter(([id]) => kindOf(id) !== kind)).set(kind, open)),
    }),
    [chosen],
  )
}

function kindOf(id: string): string {
  return id.split(':', 1)[0] ?? id
}

interface FoldProps {
  readonly id: string
  readonly summary: ComponentChildren
  /** Whether it is open before a reader decides. */
  readonly open?: boolean
  readonly children: () => ComponentChildren
}

/** A part that is folded until it is opened: a button that says what is within. */
export function Fold({ id, summary, open = false, children }: FoldProps) {
  const folds = useContext(FoldsContext)
  const isOpen = folds.isOpen(id, open)
  return (
    <div>
      <button type="button" class="bare fold-button" aria-expanded={isOpen} onClick={() => folds.set(id, !isOpen)}>
        <span class="muted" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>{' '}
        {summary}
      </button>
      {isOpen && <div class="fold-body">{children()}</div>}
    </div>
  )
}
