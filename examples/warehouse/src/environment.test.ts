import { connect, randomPolicy, returnsOf, runEpisode, withShaping } from '@episodic/env'
import { createHost, inProcess, type Rehearsal } from '@episodic/mcp-server'
import type { Action } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countUnits, DOCK, distance } from './floor.ts'
import { environment } from './index.ts'
import { ARTICLES, type Params } from './params.ts'
import { anyAction, anyParams, floorOf, start, stockOf, unitsAnywhere } from './play.fixture.ts'

/** Plays drawn moves in a drawn warehouse and inspects it after every step. */
function always(
  look: (world: Rehearsal, played: ReturnType<Rehearsal['play']>, before: Rehearsal['state'], params: Params) => void,
): void {
  fc.assert(
    fc.property(anyParams, fc.string(), fc.array(anyAction, { maxLength: 80 }), (params, seed, actions) => {
      const world = start(params, seed)
      for (const action of actions) {
        const before = structuredClone(world.state)
        const played = world.play(action.tool, action.arguments)
        look(world, played, before, params)
        if (world.end) break
      }
    }),
  )
}

describe('warehouse', () => {
  it('never creates or destroys stock', () => {
    always((world, _, before) => {
      for (const article of ARTICLES)
        expect(unitsAnywhere(world, article)).toBe(unitsAnywhere({ state: before }, article))
    })
  })

  it('keeps the battery between empty and full, the cart within its capacity, and both on the floor', () => {
    always((world, _, __, { battery, capacity, size }) => {
      const floor = floorOf(world)
      expect(floor.battery).toBeGreaterThanOrEqual(0)
      expect(floor.battery).toBeLessThanOrEqual(battery)
      expect(countUnits(floor.cart)).toBeLessThanOrEqual(capacity)
      expect(Math.min(floor.position.row, floor.position.column)).toBeGreaterThanOrEqual(0)
      expect(Math.max(floor.position.row, floor.position.column)).toBeLessThan(size)
    })
  })

  it('ends when all is delivered or the battery is empty away from the dock, and not before', () => {
    always((world, { end }) => {
      const { orders, battery, position } = floorOf(world)
      const delivered = orders.every((order) => order.delivered === order.quantity)
      const stranded = battery === 0 && distance(position, DOCK) > 0
      const reason = delivered ? 'all-delivered' : stranded ? 'out-of-battery' : null
      expect(end).toEqual(reason && { kind: 'terminated', reason })
    })
  })

  it('goes on if the battery runs out at the dock, where it can be charged', () => {
    const world = start({ size: 2, articles: 1, bins: 1, orders: 1, capacity: 1, battery: 6 }, 'a')
    for (const direction of ['right', 'left', 'down', 'up', 'right', 'left']) world.play('move', { direction })
    expect(floorOf(world)).toMatchObject({ battery: 0, position: DOCK })
    expect(world.end).toBeNull()
    expect(world.play('move', { direction: 'right' }).refused).toBe('rules')
    expect(world.play('look', {}).refused).toBe('rules')
    expect(world.play('recharge', {}).terms.cost).toBe(-0.01)
    expect(floorOf(world).battery).toBe(6)
    expect(world.play('recharge', {}).refused).toBe('rules')
  })

  it('counts correctly, and hides the bins that were not looked into', () => {
    always((world) => {
      const stock = stockOf(world)
      for (const { name, counted } of floorOf(world).bins) if (counted !== null) expect(counted).toBe(stock[name])
    })
  })

  it('shows the same for any stock until a look or a pick reveals it', () => {
    fc.assert(
      fc.property(anyParams, fc.string(), fc.array(anyAction, { maxLength: 60 }), (params, seed, actions) => {
        const world = start(params, seed)
        const other = start(params, seed)
        const stock = stockOf(other)
        for (const name of Object.keys(stock)) stock[name] = (stock[name] as number) + 1
        expect(other.start.observation).toEqual(world.start.observation)
        for (const action of actions) {
          if (world.end) break
          const { change: _, ...played } = world.play(action.tool, action.arguments)
          const { change: __, ...otherPlayed } = other.play(action.tool, action.arguments)
          const reveals = action.tool === 'look' || action.tool === 'pick'
          if (reveals && said(played) !== said(otherPlayed)) break
          expect(otherPlayed).toEqual(played)
        }
      }),
    )
  })

  it('fills urgent orders first, and rewards those that are in time', () => {
    const params = { size: 2, articles: 1, bins: 1, orders: 3, capacity: 50, battery: 500 }
    let seen = 0
    for (let i = 0; seen < 5; i++) {
      const world = start(params, `${i}`)
      const urgent = floorOf(world).orders.filter(({ due }) => due !== null)
      if (urgent.length !== 1) continue
      seen += 1
      const fetched = fetch(world, urgent[0]?.quantity as number)
      expect(fetched.terms.priority).toBe(0.5)
      expect(
        floorOf(world)
          .orders.filter(({ delivered }) => delivered > 0)
          .map(({ name }) => name),
      ).toEqual([urgent[0]?.name])
    }
  })

  it('earns at most 1 for what is delivered, and as much with shaping as without, less the starting potential', async () => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    await fc.assert(
      fc.asyncProperty(anyParams, fc.string({ minLength: 1 }), async (params, seed) => {
        const createEnvironment = () => withShaping(connection.environment())
        const policy = randomPolicy()
        const episode = await runEpisode({ createEnvironment, policy, policySeed: `${seed}!`, task: { params }, seed })
        if (episode.kind !== 'finished') throw episode.cause
        expect(episode.steps.reduce((sum, { reward }) => sum + (reward.terms.delivered ?? 0), 0)).toBeLessThanOrEqual(
          1 + 1e-9,
        )
        const { total, unshaped } = returnsOf(episode.steps, 1)
        const atEnd = episode.end.kind === 'terminated' ? 0 : (episode.steps.at(-1)?.info.potential as number)
        expect(total - unshaped).toBeCloseTo(atEnd, 10)
      }),
      { numRuns: 30 },
    )
  })

  it.each([
    [{ bins: 3, articles: 4 }, 'every article needs a bin'],
    [{ size: 2, bins: 4, articles: 1 }, 'one tile for each bin, and one for the dock'],
    [{ size: 5, battery: 17 }, 'to the farthest bin and back'],
  ])('cannot be opened with %j', async (params, reason) => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    await using warehouse = connection.environment()
    await expect(warehouse.reset({ params })).rejects.toMatchObject({
      code: 'invalid-params',
      message: expect.stringContaining(reason),
    })
  })
})

/** The first line of an answer, without the description of the floor. */
function said({ observation }: Pick<Rehearsal, 'observation'>): string | undefined {
  return observation.text.split('\n')[0]
}

/** Goes from the dock to the only bin of a floor of 2 × 2, takes units, comes back and hands them in. */
function fetch(world: Rehearsal, quantity: number): ReturnType<Rehearsal['play']> {
  const [bin] = floorOf(world).bins
  const way = [...(bin?.row ? ['down', 'up'] : []), ...(bin?.column ? ['right', 'left'] : [])]
  const go = (direction: string) => world.play('move', { direction })
  for (const direction of way) if (direction === 'down' || direction === 'right') go(direction)
  world.play('pick', { quantity } satisfies Action['arguments'])
  for (const direction of way) if (direction === 'up' || direction === 'left') go(direction)
  return world.play('deliver', {})
}
