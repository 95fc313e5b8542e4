import type { Area } from './plot-frame.tsx'
import { pathOf, pixels, type Scale } from './scale.ts'

export interface Bar {
  readonly from: number
  readonly to: number
  readonly value: number
  readonly tip: string
}

export interface Whisker {
  readonly at: number
  readonly value: number
  readonly low: number | null
  readonly high: number | null
  readonly tip: string
}

interface Scales {
  readonly x: Scale
  readonly y: Scale
  readonly kind: string
}

type Points<Point> = Scales & { readonly points: readonly Point[] }

/** Bars from 0. A bar with any count is at least a pixel high. */
export function Bars({ bars, x, y, kind }: Scales & { readonly bars: readonly Bar[] }) {
  return (
    <>
      {bars
        .filter(({ value }) => value > 0)
        .map(({ from, to, value, tip }) => {
          const height = Math.max(1, y(0) - y(value))
          const left = x(from)
          const width = Math.max(1, x(to) - left - 1)
          return (
            <rect
              key={from}
              class={kind}
              x={pixels(left + 0.5)}
              y={pixels(y(0) - height)}
              width={pixels(width)}
              height={pixels(height)}
              rx={pixels(Math.min(2, width / 3))}
            >
              <title>{tip}</title>
            </rect>
          )
        })}
    </>
  )
}

export function Whiskers({ whiskers, x, y, kind }: Scales & { readonly whiskers: readonly Whisker[] }) {
  return (
    <>
      {whiskers.map(({ at, value, low, high, tip }) => (
        <g key={at} class={kind}>
          {low !== null && high !== null && (
            <>
              <line class="whisker" x1={x(at)} x2={x(at)} y1={y(low)} y2={y(high)} />
              {[low, high].map((end) => (
                <line key={end} class="whisker" x1={x(at) - 5} x2={x(at) + 5} y1={y(end)} y2={y(end)} />
              ))}
            </>
          )}
          <circle cx={x(at)} cy={y(value)} r={4.5} />
          <title>{tip}</title>
        </g>
      ))}
    </>
  )
}

export function Line({ points, x, y, kind }: Points<readonly [at: number, value: number]>) {
  const places = points.map(([at, value]) => [x(at), y(value)] as const)
  return (
    <g class={kind}>
      <path class="line" d={pathOf(places)} />
      {places.length <= 40 && places.map(([cx, cy]) => <circle key={cx} cx={cx} cy={cy} r={3} />)}
    </g>
  )
}

export function Band({ points, x, y, kind }: Points<Readonly<Record<'at' | 'low' | 'high', number>>>) {
  const upper = points.map(({ at, high }) => [x(at), y(high)] as const)
  const lower = points.map(({ at, low }) => [x(at), y(low)] as const).reverse()
  return <path class={`${kind} band`} d={`${pathOf([...upper, ...lower])}Z`} />
}

interface MarkerProps {
  readonly at: number
  readonly text: string
  readonly area: Area
}

export function Marker({ at, text, area }: MarkerProps) {
  const toTheLeft = at > (area.left + area.right) / 2
  return (
    <>
      <line class="marker" x1={at} x2={at} y1={area.top - 6} y2={area.bottom} />
      <text
        x={pixels(toTheLeft ? at - 6 : at + 6)}
        y={area.top + 4}
        class="note"
        text-anchor={toTheLeft ? 'end' : 'start'}
      >
        {text}
      </text>
    </>
  )
}
