import { createRng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { settingsOf } from './check-context.ts'
import { leverWorld } from './lever-world.fixture.ts'
import { drawPair, seededStarts } from './private-pairs.ts'

describe('drawPair', () => {
  it('swaps the whole private state or one value, among equal public states', () => {
    const { environment } = leverWorld()
    const [setting] = settingsOf({ environment }, '0')
    if (!setting) throw new Error('The levers have defaults.')
    const starts = seededStarts(environment, setting, '0', 48)
    const kinds = new Set<string>()
    for (let i = 0; i < 200; i++) {
      const pair = drawPair(environment, starts, createRng(`${i}`))
      if (!pair) throw new Error('The levers differ.')
      const differing = ['left', 'serial'].filter((key) => pair.first[key] !== pair.second[key])
      const known = starts.some((one) => JSON.stringify(one.private) === JSON.stringify(pair.second))
      expect(pair.fits).toBe(known)
      kinds.add(differing.join(' and '))
    }
    expect(kinds).toEqual(new Set(['left', 'serial', 'left and serial']))
  })
})
