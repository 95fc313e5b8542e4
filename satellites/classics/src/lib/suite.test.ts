import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { classics, games } from '../index.ts'

const suite = JSON.parse(readFileSync(new URL('../../classics.suite.json', import.meta.url), 'utf8'))

describe('classics.suite.json', () => {
  it('names every world and game of the package', () => {
    const names = [...classics, ...games].map(({ environment }) => `@episodic/classics/${environment.name}`)
    expect(suite.worlds.map(({ world }: { world: string }) => world)).toEqual(names.sort())
  })

  it.each([...classics, ...games])('measures the references of $environment.name from its entry', async (world) => {
    const { references, measure } = await import(`../${world.environment.name}.ts`)
    expect(references).toBe(world.references)
    expect(measure).toBeTypeOf('function')
  })
})
