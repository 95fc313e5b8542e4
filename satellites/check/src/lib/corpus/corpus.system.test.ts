import { describe, expect, it } from 'vitest'
import { settingsOf } from '../check-context.ts'
import { rehearseEpisode } from '../rehearsed-episode.ts'
import { PLANTED } from './corpus.fixture.ts'
import type { Entry } from './story.fixture.ts'

/** Plays the solver and every play of an entry on each of its tasks. */
async function outcomesOf({ world, plays, goal }: Entry) {
  const { environment, solver } = world
  const settings = settingsOf(world, '0')
  const outcomes = []
  for (const [at, setting] of settings.entries())
    for (const policy of [...(solver ? [solver] : []), ...plays]) {
      const { steps, total, fault, rehearsal } = await rehearseEpisode({
        environment,
        setting,
        seed: `seed ${at}`,
        policy,
        maxSteps: setting.steps,
      })
      if (fault) throw fault
      outcomes.push({
        by: policy.name,
        total,
        goal: goal(rehearsal.state as never, setting.params),
        steps: steps.length,
        refused: steps.filter(({ refused }) => refused).length,
      })
    }
  return outcomes
}

describe.each(PLANTED.map((entry) => [entry.world.environment.name, entry] as const))('%s', (_, entry) => {
  it('pays for something else as well as for what it asks for', async () => {
    const outcomes = await outcomesOf(entry)
    const solved = outcomes.filter(({ by }) => by === 'solver')
    for (const outcome of solved) expect(outcome).toMatchObject({ goal: true, refused: 0 })
    const played = outcomes.filter(({ by }) => by !== 'solver')
    for (const outcome of played) {
      expect(outcome).toMatchObject({ goal: false })
      expect(outcome.steps).toBeGreaterThanOrEqual(3)
      expect(outcome.total).toBeGreaterThanOrEqual(Math.min(...solved.map(({ total }) => total)) - 1e-9)
    }
  })
})
