import type { Area } from './plot-frame.ts'
import type { Scale } from './scale.ts'
import { element, label, pathOf, tip } from './svg.ts'

/** A bar of a histogram, in values of the axes. */
export interface Bar {
  readonly from: number
  readonly to: number
  readonly value: number
  readonly tip: string
}

/** A share or a mean at a position, with its interval, if any. */
export interface Whisker {
  readonly at: number
  readonly value: number
  readonly low: number | null
  readonly high: number | null
  readonly tip: string
}

/** Draws bars from 0. A bar with any count is at least a pixel high. */
export function drawBars(bars: readonly Bar[], x: Scale, y: Scale, kind: string): string {
  return bars
    .filter(({ value }) => value > 0)
    .map((bar) => {
      const height = Math.max(1, y(0) - y(bar.value))
      const left = x(bar.from)
      const width = Math.max(1, x(bar.to) - left - 1)
      return element(
        'rect',
        { class: kind, x: left + 0.5, y: y(0) - height, width, height, rx: Math.min(2, width / 3) },
        tip(bar.tip),
      )
    })
    .join('')
}

/** Draws points with their intervals. */
export function drawWhiskers(whiskers: readonly Whisker[], x: Scale, y: Scale, kind: string): string {
  return whiskers
    .map(({ at, value, low, high, tip: text }) => {
      const interval =
        low === null || high === null
          ? []
          : [
              element('line', { class: 'whisker', x1: x(at), x2: x(at), y1: y(low), y2: y(high) }),
              ...[low, high].map((end) =>
                element('line', { class: 'whisker', x1: x(at) - 5, x2: x(at) + 5, y1: y(end), y2: y(end) }),
              ),
            ]
      return element(
        'g',
        { class: kind },
        ...interval,
        element('circle', { cx: x(at), cy: y(value), r: 4.5 }),
        tip(text),
      )
    })
    .join('')
}

/** Draws a line through values, with points if there are few. */
export function drawLine(
  points: readonly (readonly [at: number, value: number])[],
  x: Scale,
  y: Scale,
  kind: string,
): string {
  const pixels = points.map(([at, value]) => [x(at), y(value)] as const)
  const dots = pixels.length <= 40 ? pixels.map(([cx, cy]) => element('circle', { cx, cy, r: 3 })) : []
  return element('g', { class: kind }, element('path', { class: 'line', d: pathOf(pixels) }), ...dots)
}

/** Fills the area between two lines over the same positions. */
export function drawBand(
  points: readonly { readonly at: number; readonly low: number; readonly high: number }[],
  x: Scale,
  y: Scale,
  kind: string,
): string {
  const upper = points.map(({ at, high }) => [x(at), y(high)] as const)
  const lower = points.map(({ at, low }) => [x(at), y(low)] as const).reverse()
  return element('path', { class: `${kind} band`, d: `${pathOf([...upper, ...lower])}Z` })
}

/** Marks a value of the horizontal axis with a dashed line and a label; `row` keeps the labels of neighbors apart. */
export function drawMarker(at: number, text: string, area: Area, row = 0): string {
  const toTheLeft = at > (area.left + area.right) / 2
  return [
    element('line', { class: 'marker', x1: at, x2: at, y1: area.top - 6, y2: area.bottom }),
    label(toTheLeft ? at - 6 : at + 6, area.top + 4 + row * 15, text, {
      class: 'note',
      'text-anchor': toTheLeft ? 'end' : 'start',
    }),
  ].join('')
}
