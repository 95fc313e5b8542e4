import { connect, returnsOf, runEpisode, withShaping } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess, rehearse } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { environment, solver } from '../frozen-lake.ts'
import { directionsOf, neighbour } from '../grid-walk.ts'
import { DIRECTIONS, GRIDS, MAPS, MOVES, tilesOf } from './maps.ts'

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

  it('slips to every side equally often', () => {
    const moves = 3_000
    const counts = new Map<number, number>()
    for (let i = 0; i < moves; i++) {
      // From the start, going right leads right, down, or up against the edge.
      const world = rehearse(environment, { params: { map: '8x8' }, seed: `slip-${i}` })
      world.play('move', { direction: 'right' })
      const position = positionOf(world.state)
      counts.set(position, (counts.get(position) ?? 0) + 1)
    }
    expect([...counts.keys()].sort((a, b) => a - b)).toEqual([0, 1, 8])
    const error = Math.sqrt((1 / 3) * (2 / 3) * moves)
    for (const count of counts.values()) expect(Math.abs(count - moves / 3)).toBeLessThan(3 * error)
  })

  it('shows the whole lake and the position', () => {
    fc.assert(
      fc.property(anyPlay, ({ params, seed, moves }) => {
        const world = rehearse(environment, { params, seed })
        for (const direction of moves) {
          const position = positionOf(world.state)
          const [, ...rows] = world.observation.text.split('\n').slice(-MAPS[params.map].length - 1)
          expect([...rows.join('')].indexOf('@')).toBe(position)
          expect(rows.join('').replace('@', tilesOf(params.map)[position] as string)).toBe(MAPS[params.map].join(''))
          expect(world.observation.structured).toEqual({ ...params, map: MAPS[params.map], position })
          if (world.play('move', { direction }).end) break
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

  it('earns as much with shaping as without, less the starting potential', async () => {
    await using host = createHost({ environments: [environment] })
    for (const map of ['4x4', '8x8'] as const) {
      for (let i = 0; i < 20; i++) {
        await using connection = await connect(inProcess(host))
        const lake = connection.environment()
        const createEnvironment = () => withShaping(lake)
        const episode = await runEpisode({ createEnvironment, policy: solver, task: { params: { map } }, seed: `${i}` })
        if (episode.kind !== 'finished') throw episode.cause
        const { total, unshaped } = returnsOf(episode.steps, 1)
        const atEnd = episode.end.kind === 'terminated' ? 0 : (episode.steps.at(-1)?.info.potential as number)
        expect(total - unshaped).toBeCloseTo(atEnd - (episode.start.info.potential as number), 12)
      }
    }
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

  it('refuses invalid arguments without a change', () => {
    const world = rehearse<EnvironmentDefinition>(environment)
    const before = structuredClone(world.state)
    for (const args of [{}, { direction: 'north' }, { direction: 2 }] as JsonObject[])
      expect(world.play('move', args)).toMatchObject({ refused: 'arguments', change: null, terms: { goal: 0 } })
    expect(world.state).toEqual(before)
  })
})

function positionOf(state: { readonly public: object }): number {
  return (state.public as { position: number }).position
}
