import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createMeasuredRows } from './measured-rows.ts'

/** Rows that are rendered beyond the window, in pixels on each side. */
const MARGIN = 600
/** How often the place of a row is corrected while the rows around it are measured. */
const MOST_CORRECTIONS = 12

/**
 * A long list that scrolls with the page. Only the rows near the window are rendered, and each is as high as its content. A
 * row that grows above the window does not move what is seen: browsers keep that in place.
 */
export function VirtualList({
  count,
  estimate,
  label,
  render,
  shown = null,
}: {
  readonly count: number
  /** The usual height of a row, in pixels. */
  readonly estimate: number
  readonly label: string
  readonly render: (index: number) => ComponentChildren
  /** A row to scroll to; each new object scrolls again. */
  readonly shown?: { readonly index: number } | null
}) {
  const list = useRef<HTMLUListElement>(null)
  const rows = useMemo(() => createMeasuredRows(count, estimate), [count, estimate])
  const [range, setRange] = useState(() => ({ from: 0, to: Math.min(count, 12) }))
  const [, redraw] = useState(0)
  const target = useRef<{ readonly index: number; corrections: number } | null>(null)

  const look = () => {
    const element = list.current
    if (!element) return
    const top = -element.getBoundingClientRect().top
    // While a row is being scrolled to, the rows around it are those to render.
    const seen = target.current
      ? rowsAround(target.current.index)
      : rows.between(top - MARGIN, top + innerHeight + MARGIN)
    setRange((before) => (before.from === seen.from && before.to === seen.to ? before : seen))
  }
  useEffect(() => {
    let frame = 0
    const follow = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0
        look()
      })
    }
    const letGo = () => {
      target.current = null
    }
    look()
    addEventListener('scroll', follow, { passive: true })
    addEventListener('resize', follow)
    addEventListener('wheel', letGo, { passive: true })
    addEventListener('pointerdown', letGo)
    return () => {
      cancelAnimationFrame(frame)
      removeEventListener('scroll', follow)
      removeEventListener('resize', follow)
      removeEventListener('wheel', letGo)
      removeEventListener('pointerdown', letGo)
    }
  }, [rows])
  useLayoutEffect(() => {
    if (!shown || !list.current) return
    target.current = { index: shown.index, corrections: 0 }
    const { from, to } = rowsAround(shown.index)
    setRange({ from, to })
    redraw((times) => times + 1)
  }, [shown, rows])
  useLayoutEffect(() => {
    const element = list.current
    if (!element) return
    const measure = () => {
      let changed = false
      for (const row of element.querySelectorAll<HTMLElement>(':scope > [data-row]'))
        changed = rows.measure(Number(row.dataset.row), row.getBoundingClientRect().height) || changed
      return changed
    }
    if (measure()) redraw((times) => times + 1)
    keepTarget()
    const observer = new ResizeObserver(() => {
      if (!measure()) return
      look()
      redraw((times) => times + 1)
    })
    for (const row of element.querySelectorAll(':scope > [data-row]')) observer.observe(row)
    return () => observer.disconnect()
  })

  /** The rows of a window that begins with a row. */
  const rowsAround = (index: number) => {
    const top = rows.offset(Math.min(index, count))
    return rows.between(top - MARGIN, top + innerHeight + MARGIN)
  }
  /** Scrolls to the row that was asked for, again after the rows around it were measured. */
  const keepTarget = () => {
    const wanted = target.current
    if (!wanted) return
    const row = list.current?.querySelector<HTMLElement>(`:scope > [data-row="${wanted.index}"]`)
    if (!row) return
    const before = scrollY
    row.scrollIntoView({ block: 'start' })
    wanted.corrections += 1
    if (wanted.corrections >= MOST_CORRECTIONS || (wanted.corrections > 1 && Math.abs(scrollY - before) < 1)) {
      target.current = null
      look()
    } else requestAnimationFrame(() => redraw((times) => times + 1))
  }

  const { from } = range
  const to = Math.min(range.to, count)
  return (
    <ul class="virtual" aria-label={label} ref={list}>
      <li class="virtual-space" aria-hidden="true" style={{ height: `${rows.offset(Math.min(from, count))}px` }} />
      {Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i).map((index) => (
        <li key={index} class="virtual-row" aria-setsize={count} aria-posinset={index + 1} data-row={index}>
          {render(index)}
        </li>
      ))}
      <li class="virtual-space" aria-hidden="true" style={{ height: `${rows.total - rows.offset(to)}px` }} />
    </ul>
  )
}
