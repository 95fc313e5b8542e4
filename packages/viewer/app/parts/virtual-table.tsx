import type { ComponentChildren, RefObject } from 'preact'
import { useImperativeHandle, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Rows that are rendered above and below what is seen, so that scrolling does not show gaps. */
const AROUND = 12

export interface TableHandle {
  reveal(index: number): void
  scrollTo(top: number): void
  readonly top: number
}

export interface RowRange {
  readonly first: number
  readonly last: number
}

/** The rows to render for a frame that shows `height` pixels from `top` on. */
export function rangeAt(top: number, height: number, rowHeight: number, count: number): RowRange {
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + AROUND)
  const first = Math.max(0, Math.min(Math.floor(top / rowHeight) - AROUND, last - 1))
  return { first, last: Math.max(first, last) }
}

interface VirtualTableProps {
  readonly label: string
  readonly count: number
  /** In pixels. */
  readonly rowHeight: number
  /** Of the columns, in pixels. The one that is `null` takes what is left, and 260 pixels at least. */
  readonly widths: readonly (number | null)[]
  readonly head: ComponentChildren
  /** Renders a `tr` with `aria-rowindex` = index + 2. */
  readonly row: (index: number) => ComponentChildren
  readonly handle?: RefObject<TableHandle | null>
  onRange?(range: RowRange): void
}

/** A table of rows of one height, of which only those in view are in the page. Screen readers get the count. */
export function VirtualTable({ label, count, rowHeight, widths, head, row, handle, onRange }: VirtualTableProps) {
  const frame = useRef<HTMLDivElement>(null)
  const [range, setRange] = useState<RowRange>({ first: 0, last: Math.min(count, 60) })
  const measure = () => {
    const { scrollTop = 0, clientHeight = 0 } = frame.current ?? {}
    const next = rangeAt(scrollTop, clientHeight, rowHeight, count)
    setRange((before) => (before.first === next.first && before.last === next.last ? before : next))
  }
  // Before the page is painted: what the rows in view need is asked for without a frame in between.
  useLayoutEffect(() => {
    measure()
    if (!frame.current) return
    const observer = new ResizeObserver(measure)
    observer.observe(frame.current)
    return () => observer.disconnect()
  }, [count, rowHeight])
  const [first, last] = [Math.min(range.first, count), Math.min(range.last, count)]
  useLayoutEffect(() => onRange?.({ first, last }), [first, last])
  useImperativeHandle(
    handle ?? null,
    () => ({
      reveal(index) {
        const { current } = frame
        if (!current) return
        const headHeight = current.querySelector('thead')?.clientHeight ?? 0
        const [top, bottom] = [index * rowHeight, (index + 1) * rowHeight + headHeight]
        if (top < current.scrollTop) current.scrollTop = top
        else if (bottom > current.scrollTop + current.clientHeight) current.scrollTop = bottom - current.clientHeight
        measure()
      },
      scrollTo(top) {
        if (frame.current) frame.current.scrollTop = top
        measure()
      },
      get top() {
        return frame.current?.scrollTop ?? 0
      },
    }),
    [count, rowHeight],
  )
  const least = widths.reduce<number>((sum, width) => sum + (width ?? 260), 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls has to be reached by keys
    <section class="frame table-frame tall-table" aria-label={label} ref={frame} onScroll={measure} tabIndex={0}>
      <table class="rows" aria-rowcount={count + 1} style={{ minWidth: `${least}px` }}>
        <colgroup>
          {widths.map((width, i) => (
            <col key={`${i} ${width}`} style={width === null ? {} : { width: `${width}px` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>{head}</tr>
        </thead>
        <tbody>
          {first > 0 && <Gap height={first * rowHeight} columns={widths.length} />}
          {Array.from({ length: last - first }, (_, i) => row(first + i))}
          {last < count && <Gap height={(count - last) * rowHeight} columns={widths.length} />}
        </tbody>
      </table>
    </section>
  )
}

/** Stands for rows that are not in the page. */
function Gap({ height, columns }: { readonly height: number; readonly columns: number }) {
  return (
    <tr class="gap">
      <td colSpan={columns} style={{ height: `${height}px` }} />
    </tr>
  )
}
