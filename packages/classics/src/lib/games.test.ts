import { describe, expect, it } from 'vitest'
import { games, measureReference } from '../index.ts'

describe.each(games.map((game) => [game.environment.name, game] as const))('the references of %s', (_, game) => {
  it.each(game.references.map((reference) => [reference.id, reference] as const))('hold: %s', (_, reference) => {
    expect(measureReference(game, reference)).toMatchObject({ holds: true })
  })
})
