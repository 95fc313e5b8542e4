/** A label beside a point, both in pixels. */
export interface PlacedLabel {
  readonly x: number
  /** The base line of its text. */
  readonly y: number
  readonly anchor: 'start' | 'end'
}

/** Where a text may stand. */
interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Of the small texts of a plot, generously. */
const [CHARACTER, HEIGHT, POINT] = [6.6, 13, 6] as const
/** Base lines above and below the point, the nearest first. */
const OFFSETS = [-7, 15, -20, 28, -33, 41] as const

/**
 * Places the names of points so that no name covers another one, or a point that it does not name. The first points
 * choose first; `null` for a name for which there is no room.
 */
export function placeLabels(
  points: readonly { readonly x: number; readonly y: number; readonly text: string }[],
  area: Box,
): (PlacedLabel | null)[] {
  const dots = points.map(({ x, y }) => ({ left: x - POINT, right: x + POINT, top: y - POINT, bottom: y + POINT }))
  const taken: Box[] = []
  return points.map(({ x, y, text }, own) => {
    const width = text.length * CHARACTER
    for (const offset of OFFSETS)
      for (const anchor of ['start', 'end'] as const) {
        const left = anchor === 'start' ? x + 9 : x - 9 - width
        const box = { left, right: left + width, top: y + offset - HEIGHT + 3, bottom: y + offset + 3 }
        const isInside =
          box.left >= area.left && box.right <= area.right && box.top >= area.top && box.bottom <= area.bottom
        const isFree = [...taken, ...dots.filter((_, i) => i !== own)].every((other) => !overlap(box, other))
        if (!isInside || !isFree) continue
        taken.push(box)
        return { x: anchor === 'start' ? x + 9 : x - 9, y: y + offset, anchor }
      }
    return null
  })
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}
