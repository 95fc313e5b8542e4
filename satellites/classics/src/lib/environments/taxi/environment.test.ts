import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { environment, solver } from '../taxi.ts'

/** Plays as the solver does, and returns the texts and terms. */
async function playWell(seed: string) {
  const world = rehearse<EnvironmentDefinition>(environment, { seed, strict: true })
  const task = { prompt: '', hints: [], params: { rainy: false } }
  const player = await solver.start({ task, tools: environment.toolInfos, seed })
  const steps = []
  while (!world.end) {
    const { tool, arguments: args } = await player(world.observation, { last: null })
    steps.push(world.play(tool, args))
  }
  return { steps, start: world.start }
}

describe('taxi', () => {
  it('draws the town with its walls, the stops and the taxi', () => {
    const { start } = rehearse(environment, { seed: 'a' })
    const { row, column } = start.state.public as { row: number; column: number }
    const town = start.observation.text.split('\n').slice(1)
    expect(town[row]?.charAt(2 * column)).toBe('T')
    expect(town.map((squares) => squares.replace(/[A-Z]/g, '.'))).toEqual([
      '. .|. . .',
      '. .|. . .',
      '. . . . .',
      '.|. .|. .',
      '.|. .|. .',
    ])
  })

  it('pays for steps, for asking where nobody can get in or out, and for the delivery', async () => {
    const { steps, start } = await playWell('b')
    expect(steps.slice(0, -1).map(({ terms }) => terms)).toEqual(
      steps.slice(1).map(() => ({ step: -1, illegal: 0, delivered: 0 })),
    )
    expect(steps.at(-1)).toMatchObject({ terms: { step: 0, illegal: 0, delivered: 20 }, end: { reason: 'delivered' } })
    expect(start.potential).toBe(-(steps.length - 2))
    const idle = rehearse(environment, { seed: 'b' })
    expect(idle.play('act', { action: 'drop-off' }).terms).toEqual({ step: 0, illegal: -10, delivered: 0 })
  })
})
