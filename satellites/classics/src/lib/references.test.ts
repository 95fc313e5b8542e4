import { connect, type Policy, randomPolicy, runMatch } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { classics, games } from '../index.ts'
import type { Classic } from './classic.ts'
import { measureOf } from './measure-reference.ts'

const named = (worlds: readonly Classic[]) => worlds.map((world) => [world.environment.name, world] as const)

describe('references', () => {
  const all = [...classics, ...games].flatMap((world) =>
    world.references.map((reference) => [world.environment.name, reference.id, world, reference] as const),
  )

  it.each(all.filter(([, , , { how }]) => how.kind !== 'played'))('hold: %s %s', (_, __, world, reference) => {
    expect(measureOf(world)(reference)).toMatchObject({ holds: true })
  })

  it('that are means of played episodes are not measured', () => {
    for (const [, , world, reference] of all.filter(([, , , { how }]) => how.kind === 'played'))
      expect(measureOf(world)(reference)).toBeNull()
  })
})

describe.each(named(games))('%s', (_, { environment, solver }) => {
  it.each([
    ['its solver', solver],
    ['random play', randomPolicy()],
  ])('is played by %s to its end, without a refused action', async (_, policy: Policy) => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    const policies = Object.fromEntries(environment.seats.map((seat) => [seat, policy]))
    const match = await runMatch({ createGame: () => connection.game(environment.name), policies, seed: 'a match' })
    if (match.kind === 'failed') throw match.cause
    expect(match.steps.filter(({ report }) => report.refused)).toEqual([])
    for (const { end } of Object.values(match.seats)) expect(end.kind).toBe('terminated')
  })
})
