import { createRng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { settingsOf } from '../check-context.ts'
import { drawDeals } from '../deal.ts'
import { leverWorld } from '../lever-world.fixture.ts'
import { dealsFor, drawDealtPair } from './dealt-pairs.ts'

describe('drawDealtPair', () => {
  it('swaps the whole private state of the only seat or one value, among equal public states', () => {
    const { environment } = leverWorld()
    const [setting] = settingsOf({ environment }, '0')
    if (!setting) throw new Error('The levers have defaults.')
    const deals = drawDeals(environment, setting, '0', 48)
    const known = new Set(deals.map(({ state }) => JSON.stringify(state.private)))
    const kinds = new Set<string>()
    for (let i = 0; i < 200; i++) {
      const pair = drawDealtPair(environment, dealsFor(environment, 'agent', deals), createRng(`${i}`))
      if (!pair) throw new Error('The levers differ.')
      const [first, second] = [pair.first.state.private, pair.second.state.private]
      const differing = ['left', 'serial'].filter((key) => first[key] !== second[key])
      expect(pair.second.state.public).toEqual(pair.first.state.public)
      expect(pair.fits).toBe(known.has(JSON.stringify(second)))
      kinds.add(differing.join(' and '))
    }
    expect(kinds).toEqual(new Set(['left', 'serial', 'left and serial']))
  })
})
