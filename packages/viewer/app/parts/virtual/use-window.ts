import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Rows beyond the window that are rendered too, on each side. */
const MORE = 20

/** The rows of equal height that are seen of a table that scrolls with the page: from `from` to before `to`. */
export function useWindow(
  count: number,
  height: number,
): { readonly body: RefObject<HTMLTableSectionElement | null>; readonly from: number; readonly to: number } {
  const body = useRef<HTMLTableSectionElement>(null)
  const [range, setRange] = useState({ from: 0, to: 60 })
  useEffect(() => {
    const update = () => {
      const top = -(body.current?.getBoundingClientRect().top ?? 0)
      const first = Math.max(0, Math.floor(top / height) - MORE)
      // Few steps of the window need another render.
      const from = first - (first % 10)
      const to = Math.ceil((top + innerHeight) / height) + MORE + 10
      setRange((before) => (before.from === from && Math.abs(before.to - to) < 10 ? before : { from, to }))
    }
    update()
    const end = new AbortController()
    const { signal } = end
    addEventListener('scroll', update, { passive: true, signal })
    addEventListener('resize', update, { signal })
    return () => end.abort()
  }, [count, height])
  return { body, from: Math.min(range.from, count), to: Math.min(Math.max(range.to, 0), count) }
}
