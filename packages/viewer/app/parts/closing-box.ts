import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Closes a `details` when something beside it is pressed. */
export function useClosingBox(): RefObject<HTMLDetailsElement | null> {
  const box = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const close = ({ target }: Event) => {
      if (box.current && !box.current.contains(target as Node)) box.current.open = false
    }
    addEventListener('pointerdown', close)
    return () => removeEventListener('pointerdown', close)
  }, [])
  return box
}
