import { describe, expect, it } from 'vitest'
import { gymnasiumLakes } from './gymnasium.fixture.ts'
import { tilesOf } from './maps.ts'
import { DIRECTIONS, pickOutcome, transitionsOf } from './transitions.ts'

describe('transitionsOf', () => {
  it('is compared with all four lakes of Gymnasium', () => {
    expect(gymnasiumLakes.map(({ map, slippery }) => [map, slippery])).toEqual([
      ['4x4', false],
      ['4x4', true],
      ['8x8', false],
      ['8x8', true],
    ])
  })

  it.each(gymnasiumLakes)(
    'equals Gymnasium’s table to the last bit: $map, slippery $slippery',
    ({ map, slippery, P }) => {
      const tiles = tilesOf(map)
      const table = transitionsOf(map, slippery).map((row, from) =>
        DIRECTIONS.map((direction) =>
          row[direction].map(({ probability, position }) => {
            // Gymnasium keeps rewards and ends in the table; here the rules decide them.
            const reward = tiles[position] === 'G' && from !== position ? 1 : 0
            return [probability, position, reward, tiles[position] === 'G' || tiles[position] === 'H']
          }),
        ),
      )
      expect(table).toEqual(P)
    },
  )

  it.each(gymnasiumLakes)('has probabilities that sum to 1: $map, slippery $slippery', ({ map, slippery }) => {
    for (const row of transitionsOf(map, slippery))
      for (const direction of DIRECTIONS)
        expect(row[direction].reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 15)
  })
})

describe('pickOutcome', () => {
  const thirds = [0, 1, 2].map((position) => ({ probability: 1 / 3, position }))

  it.each([
    [0, 0],
    [0.333, 0],
    [0.334, 1],
    [0.666, 1],
    [0.667, 2],
    [1 - 2 ** -53, 2],
  ])('returns for %f the outcome %i', (drawn, position) => {
    expect(pickOutcome(thirds, drawn).position).toBe(position)
  })

  it('returns an outcome even if rounded probabilities sum up to less than 1', () => {
    const tenths = Array.from({ length: 10 }, (_, position) => ({ probability: 0.1, position }))
    expect(pickOutcome(tenths, 1 - 2 ** -53).position).toBe(9)
  })
})
