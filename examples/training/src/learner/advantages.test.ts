import { describe, expect, it } from 'vitest'
import { advantagesOf } from './advantages.ts'

describe('advantagesOf', () => {
  it('gives the discounted return less the value if λ is 1', () => {
    const { advantages, targets } = advantagesOf({ rewards: [1, 0, 4] }, [0.5, 1, 2, 0], { discount: 0.5, lambda: 1 })
    expect(advantages).toEqual([1 + 0.25 * 4 - 0.5, 0.5 * 4 - 1, 4 - 2])
    expect(targets).toEqual([2, 2, 4])
  })

  it('gives the surprise of each step alone if λ is 0', () => {
    const { advantages } = advantagesOf({ rewards: [1, 0, 4] }, [0.5, 1, 2, 0], { discount: 0.5, lambda: 0 })
    expect(advantages).toEqual([1 + 0.5 * 1 - 0.5, 0.5 * 2 - 1, 4 - 2])
  })

  it('counts what was still to come after a cut by its value', () => {
    const { advantages } = advantagesOf({ rewards: [0] }, [0, 8], { discount: 0.5, lambda: 1 })
    expect(advantages).toEqual([4])
  })
})
