interface IntervalBarProps {
  readonly value: number | null
  readonly low: number | null
  readonly high: number | null
  readonly from?: number
  readonly to?: number
  /** In pixels. */
  readonly width?: number
}

/** Readers of the screen skip it: numbers beside it say the same. */
export function IntervalBar({ value, low, high, from = 0, to = 1, width = 90 }: IntervalBarProps) {
  const at = (x: number) => 4 + (Math.max(0, Math.min(1, (x - from) / (to - from || 1))) || 0) * (width - 8)
  return (
    <svg class="interval-bar" width={width} height={14} viewBox={`0 0 ${width} 14`} aria-hidden="true">
      <line class="track-line" x1={0} x2={width} y1={7} y2={7} />
      {from < 0 && 0 < to && <line class="mark-line" x1={at(0)} x2={at(0)} y1={1} y2={13} />}
      {low !== null && high !== null && (
        <>
          <line class="range-line" x1={at(low)} x2={at(high)} y1={7} y2={7} />
          <line class="range-line" x1={at(low)} x2={at(low)} y1={4} y2={10} />
          <line class="range-line" x1={at(high)} x2={at(high)} y1={4} y2={10} />
        </>
      )}
      {value !== null && <rect class="unshaped" x={at(value) - 3} y={4} width={6} height={6} />}
    </svg>
  )
}
