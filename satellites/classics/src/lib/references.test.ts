import { describe, expect, it } from 'vitest'
import { classics } from '../index.ts'
import { measureReference } from './measure-reference.ts'

describe.each(classics.map((world) => [world.environment.name, world] as const))('the references of %s', (_, world) => {
  const measured = world.references.filter(({ how }) => how.kind !== 'played')

  it.each(measured.map((reference) => [reference.id, reference] as const))('hold: %s', (_, reference) => {
    expect(measureReference(world, reference)).toMatchObject({ holds: true })
  })
})
