import { createContext } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'
import { createKeyRegistry, type KeyBinding } from './key-registry.ts'

export const KeysContext = createContext(createKeyRegistry())

/** Adds the keys of a part of the page while it is shown. The bindings may be new ones each time it is rendered. */
export function useKeys(title: string, bindings: readonly KeyBinding[]): void {
  const registry = useContext(KeysContext)
  const latest = useRef({ title, bindings })
  latest.current = { title, bindings }
  // Before the screen is painted: who sees a screen can press its keys.
  useLayoutEffect(() => registry.add(() => latest.current), [registry])
}
