import { connect } from '@episodic/env'
import { createHost, inProcess, rehearse } from '@episodic/mcp-server'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { environment } from '../frozen-lake.ts'
import { directionsOf, neighbour } from '../grid-walk.ts'
import { DIRECTIONS, GRIDS, MOVES, tilesOf } from './maps.ts'

const anyPlay = fc.record({
  params: fc.record({ map: fc.constantFrom('4x4' as const, '8x8' as const), slippery: fc.boolean() }),
  seed: fc.string(),
  moves: fc.array(fc.constantFrom(...DIRECTIONS), { minLength: 1, maxLength: 60 }),
})

describe('frozen-lake', () => {
  it('moves one tile at most, and ends exactly in holes and at the goal', () => {
    fc.assert(
      fc.property(anyPlay, ({ params, seed, moves }) => {
        const world = rehearse(environment, { params, seed })
        const tiles = tilesOf(params.map)
        for (const direction of moves) {
          const from = positionOf(world.state)
          const directions = directionsOf(DIRECTIONS, params.slippery, direction)
          const { end, terms } = world.play('move', { direction })
          const position = positionOf(world.state)
          expect(directions.map((taken) => neighbour(GRIDS[params.map], from, taken))).toContain(position)
          const reason = { G: 'goal', H: 'hole', F: null, S: null }[tiles[position] as 'G' | 'H' | 'F' | 'S']
          expect(end).toEqual(reason && { kind: 'terminated', reason })
          expect(terms).toEqual({ goal: reason === 'goal' ? 1 : 0 })
          if (end) break
        }
      }),
    )
  })

  it('has a potential from 0 in holes to 1 at the goal that rises equally with each step towards the goal', () => {
    fc.assert(
      fc.property(anyPlay, ({ params, seed, moves }) => {
        const world = rehearse(environment, { params, seed })
        let before = world.start.potential as number
        // The start is as far from the goal as any tile.
        const step = 1 / { '4x4': 6, '8x8': 14 }[params.map]
        for (const direction of moves) {
          const { potential, end } = world.play('move', { direction })
          const after = potential as number
          if (end?.reason === 'hole') expect(after).toBe(0)
          else if (end) expect(after).toBe(1)
          else expect([0, step]).toContainEqual(expect.closeTo(Math.abs(after - before), 12))
          if (end) break
          before = after
        }
      }),
    )
  })

  it.each(['4x4', '8x8'] as const)('is truncated at the step limit of Gymnasium: %s', async (map) => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    await using lake = connection.environment()
    await lake.reset({ params: { map, slippery: false } })
    for (let move = 1; move <= MOVES[map]; move++) {
      const { end } = await lake.step({ tool: 'move', arguments: { direction: 'left' } })
      expect(end).toEqual(move < MOVES[map] ? null : { kind: 'truncated', reason: 'step-limit' })
    }
  })
})

function positionOf(state: { readonly public: object }): number {
  return (state.public as { position: number }).position
}
