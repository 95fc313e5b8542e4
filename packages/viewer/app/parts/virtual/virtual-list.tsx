import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'

/** Rows that are rendered beyond the window, in pixels on each side. */
const MARGIN = 600
/** A list of no more rows is rendered whole after a moment, so that pictures of the whole page have all of them. */
const MOST_WHOLE = 200
/** Milliseconds until then: first what is seen is shown. */
const WHOLE_AFTER = 300
/** How often the place of a row is corrected while the rows around it are measured. */
const MOST_CORRECTIONS = 12

interface VirtualListProps {
  readonly count: number
  /** The usual height of a row, in pixels. */
  readonly estimate: number
  readonly label: string
  /** Renders the content of a row. While it is the same function, a row that was rendered is not rendered again. */
  readonly render: (index: number) => ComponentChildren
  /** A row to scroll to; each new object scrolls again. */
  readonly shown?: { readonly index: number } | null
}

/**
 * A long list that scrolls with the page. Only the rows near the window are rendered, and each is as high as its
 * content. A row that grows above the window does not move what is seen: browsers keep that in place.
 */
export function VirtualList({ count, estimate, label, render, shown = null }: VirtualListProps) {
  const list = useRef<HTMLUListElement>(null)
  const rows = useMemo(() => createMeasuredRows(count, estimate), [count, estimate])
  const [range, setRange] = useState(() => ({ from: 0, to: Math.min(count, 12) }))
  const [isWhole, setWhole] = useState(false)
  useEffect(() => {
    setWhole(false)
    if (count > MOST_WHOLE) return
    const waiting = setTimeout(() => setWhole(true), WHOLE_AFTER)
    return () => clearTimeout(waiting)
  }, [count])
  const [, redraw] = useReducer((times: number) => times + 1, 0)
  const target = useRef<{ readonly index: number; corrections: number } | null>(null)
  const observed = useRef<{ readonly observer: ResizeObserver; readonly rows: Set<Element> } | null>(null)
  // A row that was rendered stays the same while it is in the window, so that scrolling renders only those that come
  // into it.
  const rendered = useMemo(() => new Map<number, ComponentChildren>(), [render])

  const rowsFrom = (top: number) => rows.between(top - MARGIN, top + innerHeight + MARGIN)
  const updateRange = () => {
    const element = list.current
    if (!element) return
    // While a row is being scrolled to, the rows around it are those to render.
    const wanted = target.current
    const seen = rowsFrom(wanted ? rows.offset(Math.min(wanted.index, count)) : -element.getBoundingClientRect().top)
    setRange((before) => (before.from === seen.from && before.to === seen.to ? before : seen))
  }
  const keepTarget = () => {
    const wanted = target.current
    const row = wanted && list.current?.querySelector<HTMLElement>(`:scope > [data-row="${wanted.index}"]`)
    if (!row) return
    const before = scrollY
    row.scrollIntoView({ block: 'start' })
    wanted.corrections += 1
    if (wanted.corrections >= MOST_CORRECTIONS || (wanted.corrections > 1 && Math.abs(scrollY - before) < 1)) {
      target.current = null
      updateRange()
    } else requestAnimationFrame(redraw)
  }
  useEffect(() => {
    let frame = 0
    const follow = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0
        updateRange()
      })
    }
    const letGo = () => {
      target.current = null
    }
    // On paper nothing is scrolled.
    const showAll = () => setRange({ from: 0, to: count })
    updateRange()
    const end = new AbortController()
    const { signal } = end
    addEventListener('beforeprint', showAll, { signal })
    addEventListener('afterprint', updateRange, { signal })
    addEventListener('scroll', follow, { passive: true, signal })
    addEventListener('resize', follow, { signal })
    addEventListener('wheel', letGo, { passive: true, signal })
    addEventListener('pointerdown', letGo, { signal })
    return () => {
      cancelAnimationFrame(frame)
      end.abort()
    }
  }, [rows])
  useLayoutEffect(() => {
    let frame = 0
    const observer = new ResizeObserver((entries) => {
      let changed = false
      for (const { target: row, borderBoxSize } of entries)
        if (row.isConnected)
          changed = rows.measure(Number((row as HTMLElement).dataset.row), borderBoxSize[0]?.blockSize ?? 0) || changed
      if (changed)
        frame ||= requestAnimationFrame(() => {
          frame = 0
          updateRange()
          redraw(undefined)
        })
    })
    observed.current = { observer, rows: new Set() }
    return () => {
      cancelAnimationFrame(frame)
      observer.disconnect()
    }
  }, [rows])
  useLayoutEffect(() => {
    if (!shown) return
    target.current = { index: shown.index, corrections: 0 }
    updateRange()
    redraw(undefined)
  }, [shown, rows])
  useLayoutEffect(() => {
    const known = observed.current
    if (!list.current || !known) return
    for (const row of known.rows)
      if (!row.isConnected) {
        known.observer.unobserve(row)
        known.rows.delete(row)
      }
    for (const row of list.current.querySelectorAll(':scope > [data-row]'))
      if (!known.rows.has(row)) {
        known.observer.observe(row)
        known.rows.add(row)
      }
    keepTarget()
  })

  const from = isWhole ? 0 : range.from
  const to = isWhole ? count : Math.min(range.to, count)
  for (const index of rendered.keys()) if (index < from || index >= to) rendered.delete(index)
  const rowOf = (index: number) => {
    if (!rendered.has(index))
      rendered.set(
        index,
        <li key={index} class="virtual-row" aria-setsize={count} aria-posinset={index + 1} data-row={index}>
          {render(index)}
        </li>,
      )
    return rendered.get(index)
  }
  const isToBeWhole = !isWhole && count <= MOST_WHOLE
  return (
    <ul class="virtual" aria-label={label} aria-busy={isToBeWhole} ref={list}>
      <li class="virtual-space" aria-hidden="true" style={{ height: `${rows.offset(Math.min(from, count))}px` }} />
      {Array.from({ length: Math.max(0, to - from) }, (_, i) => rowOf(from + i))}
      <li class="virtual-space" aria-hidden="true" style={{ height: `${rows.total - rows.offset(to)}px` }} />
    </ul>
  )
}

export function createMeasuredRows(count: number, estimate: number) {
  const heights = new Float64Array(count).fill(estimate)
  const offsets = new Float64Array(count + 1)
  /** Offsets up to this one are right. */
  let right = 0
  const offset = (index: number): number => {
    for (; right < index; right++) offsets[right + 1] = (offsets[right] as number) + (heights[right] as number)
    return offsets[index] as number
  }
  const at = (distance: number): number => {
    let [low, high] = [0, Math.max(0, count - 1)]
    offset(count)
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (offset(middle) <= distance) low = middle
      else high = middle - 1
    }
    return low
  }
  return {
    /** Of all rows, in pixels. */
    get total() {
      return offset(count)
    },
    /** The distance of a row from the first one; of the count of rows, the height of all. */
    offset,
    measure(index: number, height: number): boolean {
      if (index < 0 || index >= count || Math.abs((heights[index] as number) - height) < 0.5) return false
      heights[index] = height
      right = Math.min(right, index)
      return true
    },
    /** The rows between two distances from the first one: to before `to`, at least one if there is any. */
    between: (top: number, bottom: number) => ({ from: at(top), to: count === 0 ? 0 : at(Math.max(top, bottom)) + 1 }),
  }
}
