import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { placeLabels } from './cost-plot.tsx'

const area = { left: 54, right: 1_136, top: 0, bottom: 200 }
const points = fc.array(
  fc.record({
    x: fc.integer({ min: area.left, max: area.right }),
    y: fc.integer({ min: 28, max: 176 }),
    text: fc.string({ minLength: 1, maxLength: 28 }),
  }),
  { maxLength: 60 },
)

describe('placeLabels', () => {
  it('lets no name cover another one, wherever the points are', () => {
    fc.assert(
      fc.property(points, (all) => {
        const boxes = placeLabels(all, area).flatMap((placed, i) => {
          if (!placed) return []
          const width = (all[i]?.text.length ?? 0) * 6.6
          const left = placed.anchor === 'start' ? placed.x : placed.x - width
          return [{ left, right: left + width, top: placed.y - 10, bottom: placed.y + 3 }]
        })
        for (const [i, a] of boxes.entries())
          for (const b of boxes.slice(i + 1))
            expect(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).toBe(false)
        for (const { left, right } of boxes) expect([left >= area.left, right <= area.right]).toEqual([true, true])
      }),
    )
  })

  it('places the name of a point that is alone, and names the first of two that are at one place', () => {
    const [alone] = placeLabels([{ x: 500, y: 100, text: 'solver' }], area)
    expect(alone).toEqual({ x: 509, y: 93, anchor: 'start' })
    const same = Array.from({ length: 20 }, (_, i) => ({ x: 500, y: 100, text: `player ${i}` }))
    const placed = placeLabels(same, area)
    expect(placed[0]).not.toBeNull()
    expect(placed.at(-1)).toBeNull()
  })
})
