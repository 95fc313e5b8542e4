import { describe, expect, it } from 'vitest'
import { voidBounds } from '../fold/void-bounds.ts'
import { noteVoids, shortBounds, shortVoids } from './void-notes.ts'

describe('voidBounds', () => {
  it('counts all failed episodes as lost, and as won', () => {
    expect(voidBounds({ successes: 18, finished: 19, failed: 17 })).toEqual({ low: 18 / 36, high: 35 / 36 })
    expect(voidBounds({ successes: 0, finished: 0, failed: 3 })).toEqual({ low: 0, high: 1 })
  })

  it('has none if nothing failed', () => {
    expect(voidBounds({ successes: 1, finished: 2, failed: 0 })).toBeNull()
  })
})

describe('shortBounds', () => {
  it('says between which rates success of a group lies, and nothing if nothing failed', () => {
    expect(shortBounds({ successes: 18, count: 19, failed: 17 })).toBe('50.0 to 97.2 % with 17 failed')
    expect(shortBounds({ successes: 18, count: 19, failed: 0 })).toBe('')
  })
})

describe('noteVoids and shortVoids', () => {
  const retried = { episodes: 1, plays: 2, finished: 1 }
  const bounds = voidBounds({ successes: 18, finished: 19, failed: 17 })

  it('say between which rates success lies, and what was played again', () => {
    expect(noteVoids({ failed: 17, bounds, retried })).toEqual([
      '17 failed and not in the rate: success lies in 50.0 to 97.2 % if they were all lost or all won.',
      '1 failed episode was played again, 2 times in all, and 1 finished at last.',
    ])
    expect(shortVoids({ failed: 17, bounds, retried })).toEqual(['50.0 to 97.2 % with 17 failed', '1 played again'])
  })

  it('say nothing if nothing failed', () => {
    expect(noteVoids({ failed: 0, bounds: null, retried: null })).toEqual([])
    expect(shortVoids({ failed: 0, bounds: null, retried: null })).toEqual([])
  })
})
