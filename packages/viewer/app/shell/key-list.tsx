import { useContext, useEffect, useRef } from 'preact/hooks'
import { KeysContext } from '../keys/use-keys.ts'

const NAMES: { readonly [key: string]: string } = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
  ' ': 'Space',
}

export function KeyList({ onClose }: { readonly onClose: () => void }) {
  const registry = useContext(KeysContext)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog class="card key-list" ref={dialog} aria-label="Keys" onClose={onClose}>
      <header class="flow apart">
        <h2>Keys</h2>
        <button type="button" class="button icon" aria-label="Close" onClick={() => dialog.current?.close()}>
          ✕
        </button>
      </header>
      {registry.scopes().map(({ title, bindings }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl>
            {bindings.map(({ key, label }) => (
              <div key={key}>
                <dt>
                  <kbd>{NAMES[key] ?? key}</kbd>
                </dt>
                <dd>{label}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </dialog>
  )
}
