import { formatCount, formatPercent, formatShareInterval, NOTHING } from '../text/format.ts'
import type { Anchors } from './anchor-schema.ts'

/** Returns floor and oracle as figures: name, value, and by whom and in how many episodes they were measured. */
export function anchorRows(anchors: Anchors | undefined): (readonly [name: string, value: string, note: string])[] {
  if (!anchors) return []
  return (['floor', 'oracle'] as const).map((kind) => {
    const anchor = anchors[kind]
    if (anchor === null) return [kind, NOTHING, 'the world has no such policy']
    const { policy, rate, low, high, successes, count } = anchor
    const interval = low === null ? '' : `   95 %: ${formatShareInterval({ low, high })}`
    return [kind, formatPercent(rate), `${policy}, ${formatCount(successes)} of ${formatCount(count)}${interval}`]
  })
}

export function noteUnmeasured(command: string): string {
  return `Floor and oracle are not measured: ${command}`
}

export function noteAnchors(anchors: Anchors | null | undefined, measure: string): string {
  if (!anchors) return noteUnmeasured(measure)
  const rows = anchorRows(anchors).map(([name, value, note]) => `${name} ${value} (${note.replace(/ {3}/g, '; ')})`)
  return `Measured on these tasks: ${rows.join(', ')}.`
}
