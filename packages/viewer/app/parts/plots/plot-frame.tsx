import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { type Figures, FiguresTable } from '../figures-table.tsx'
import type { Scale } from './scale.ts'

export interface Area {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

export interface Axis {
  readonly scale: Scale
  readonly format: (value: number) => string
  readonly label: string
}

export interface PlotSize {
  readonly width: number
  readonly height: number
}

export const HALF: PlotSize = { width: 560, height: 250 }
export const FULL: PlotSize = { width: 1_150, height: 220 }

export function areaOf({ width, height }: PlotSize): Area {
  return { left: 54, right: width - 14, top: 28, bottom: height - 44 }
}

export function rangesOf(size: PlotSize): {
  readonly x: readonly [number, number]
  readonly y: readonly [number, number]
} {
  const { left, right, top, bottom } = areaOf(size)
  return { x: [left, right], y: [bottom, top] }
}

/** Whether the page is markup without a script, which leaves out what would double its size. */
export const MarkupContext = createContext(false)

interface PlotProps {
  readonly title: string
  /** Default: of half the page. */
  readonly size?: PlotSize
  readonly x: Axis
  readonly y: Axis
  readonly table: Figures
  readonly children: ComponentChildren
}

/** A drawing with its accessible name, and the table of what it shows, which can be opened below it. */
export function Plot({ title, size = HALF, x, y, table, children }: PlotProps) {
  const isMarkup = useContext(MarkupContext)
  const { width, height } = size
  const { left, right, bottom } = areaOf(size)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls has to be reached by keys */}
      <div class="drawing" tabIndex={0}>
        <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={title} class={width > HALF.width ? 'full' : ''}>
          {y.scale.ticks.map((tick) => (
            <>
              <line class={tick === 0 ? 'axis' : 'grid'} x1={left} x2={right} y1={y.scale(tick)} y2={y.scale(tick)} />
              <text x={left - 8} y={y.scale(tick) + 4} text-anchor="end">
                {y.format(tick)}
              </text>
            </>
          ))}
          {children}
          <line class="axis" x1={left} x2={right} y1={bottom} y2={bottom} />
          {x.scale.ticks.map((tick) => (
            <>
              <line class="axis" x1={x.scale(tick)} x2={x.scale(tick)} y1={bottom} y2={bottom + 4} />
              <text x={x.scale(tick)} y={bottom + 18} text-anchor="middle">
                {x.format(tick)}
              </text>
            </>
          ))}
          <text x={0} y={12} class="name">
            {y.label}
          </text>
          <text x={right} y={height - 6} class="name" text-anchor="end">
            {x.label}
          </text>
        </svg>
      </div>
      {!isMarkup && (
        <details class="behind">
          <summary>as a table</summary>
          <FiguresTable {...table} />
        </details>
      )}
    </>
  )
}
