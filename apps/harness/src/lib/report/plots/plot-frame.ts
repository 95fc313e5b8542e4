import type { Scale } from './scale.ts'
import { element, label } from './svg.ts'

/** The drawing area of a plot, in the pixels of its view box. */
export interface Area {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** An axis: its scale, the format of its ticks, and a label with the unit. */
export interface Axis {
  readonly scale: Scale
  readonly format: (value: number) => string
  readonly label: string
}

/** A plot's size in pixels. */
export interface PlotSize {
  readonly width: number
  readonly height: number
}

/** A plot of half the page's width, and one of the full width. */
export const HALF: PlotSize = { width: 560, height: 250 }
export const FULL: PlotSize = { width: 1_150, height: 220 }

/** The drawing area, without the room for labels around it. */
export function areaOf({ width, height }: PlotSize): Area {
  return { left: 54, right: width - 14, top: 28, bottom: height - 44 }
}

/** The pixels that a horizontal and a vertical scale span. */
export function rangesOf(size: PlotSize): {
  readonly x: readonly [number, number]
  readonly y: readonly [number, number]
} {
  const { left, right, top, bottom } = areaOf(size)
  return { x: [left, right], y: [bottom, top] }
}

/** Draws a plot: grid, marks and axes. `title` is its accessible name. */
export function drawPlot(title: string, size: PlotSize, x: Axis, y: Axis, ...marks: readonly string[]): string {
  const { left, right, bottom } = areaOf(size)
  const grid = y.scale.ticks.flatMap((tick) => [
    element('line', { class: tick === 0 ? 'axis' : 'grid', x1: left, x2: right, y1: y.scale(tick), y2: y.scale(tick) }),
    label(left - 8, y.scale(tick) + 4, y.format(tick), { 'text-anchor': 'end' }),
  ])
  const ticks = x.scale.ticks.flatMap((tick) => [
    element('line', { class: 'axis', x1: x.scale(tick), x2: x.scale(tick), y1: bottom, y2: bottom + 4 }),
    label(x.scale(tick), bottom + 18, x.format(tick), { 'text-anchor': 'middle' }),
  ])
  return element(
    'svg',
    { viewBox: `0 0 ${size.width} ${size.height}`, role: 'img', 'aria-label': title },
    ...grid,
    ...marks,
    element('line', { class: 'axis', x1: left, x2: right, y1: bottom, y2: bottom }),
    ...ticks,
    label(0, 12, y.label, { class: 'name' }),
    label(right, size.height - 6, x.label, { class: 'name', 'text-anchor': 'end' }),
  )
}
