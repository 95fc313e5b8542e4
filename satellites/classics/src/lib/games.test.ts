import { connect, type Policy, randomPolicy, runMatch } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { games } from '../index.ts'
import type { ClassicGame } from './classic-game.ts'
import { measureReference } from './measure-reference.ts'

const named = games.map((game) => [game.environment.name, game] as const)

describe.each(named)('the references of %s', (_, game) => {
  it.each(game.references.map((reference) => [reference.id, reference] as const))('hold: %s', (_, reference) => {
    expect(measureReference(game, reference)).toMatchObject({ holds: true })
  })
})

describe.each(named)('%s', (_, game) => {
  it.each([
    ['its solver', game.solver],
    ['random play', randomPolicy()],
  ])('is played by %s to its end, without a refused action', async (_, policy) => {
    const match = await play(game, policy)
    if (match.kind === 'failed') throw match.cause
    expect(match.steps.filter(({ report }) => report.refused)).toEqual([])
    for (const { end } of Object.values(match.seats)) expect(end.kind).toBe('terminated')
  })
})

async function play({ environment }: ClassicGame, policy: Policy) {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const policies = Object.fromEntries(environment.seats.map((seat) => [seat, policy]))
  return await runMatch({ createGame: () => connection.game(environment.name), policies, seed: 'a match' })
}
