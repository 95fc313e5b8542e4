import { classics } from '@episodic/classics'
import { describe, expect, it } from 'vitest'
import { checkWorld } from './check-world.ts'

describe.each(classics.map((world) => [world.environment.name, world] as const))('%s', (_, world) => {
  it('passes every check', async () => {
    const { environment, tasks, solver } = world
    const { checks, ok } = await checkWorld({ environment, tasks, solver }, { pairs: 20 })
    for (const { name, findings } of checks) expect([name, findings]).toEqual([name, []])
    const kinds = checks.flatMap(({ warnings }) => warnings.map((warning) => warning.name))
    expect(kinds.filter((kind) => /^(never-ended|answer-contradictory)/.test(kind))).toEqual([])
    expect(ok).toBe(true)
  })
})
