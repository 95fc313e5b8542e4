export interface PlacedLabel {
  readonly x: number
  readonly y: number
  readonly anchor: 'start' | 'end'
}

/** Of the small texts of a plot, generously. */
const CHARACTER = 6.6
/** Base lines above and below the point, the nearest first. */
const OFFSETS = [-7, 15, -20, 28, -33, 41]

/** Places names so that none covers another or a point: the first choose first, `null` where there is no room. */
export function placeLabels(
  points: readonly { readonly x: number; readonly y: number; readonly text: string }[],
  area: { readonly right: number; readonly top: number; readonly bottom: number },
): (PlacedLabel | null)[] {
  const taken = points.map(({ x, y }) => ({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }))
  return points.map(({ x, y, text }) => {
    const width = text.length * CHARACTER
    const isBefore = x + 9 + width > area.right
    const left = isBefore ? x - 9 - width : x + 9
    for (const offset of OFFSETS) {
      const box = { left, right: left + width, top: y + offset - 10, bottom: y + offset + 3 }
      const covers = (other: typeof box) =>
        box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom
      if (box.top < area.top || box.bottom > area.bottom || taken.some(covers)) continue
      taken.push(box)
      return { x: isBefore ? x - 9 : x + 9, y: y + offset, anchor: isBefore ? 'end' : 'start' }
    }
    return null
  })
}
