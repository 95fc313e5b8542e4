import { describe, expect, it } from 'vitest'
import { settingsOf } from '../check-context.ts'
import { rehearseEpisode } from '../rehearsed-episode.ts'
import { DEFECTS, type Entry, HONEST, PLANTED } from './corpus.fixture.ts'

/** Plays the solver and every play of an entry on each of its tasks. */
async function outcomesOf({ world, plays, goal }: Entry) {
  const { environment, solver } = world
  const outcomes = []
  for (const [at, setting] of settingsOf(world, '0').entries())
    for (const policy of new Set([...(solver ? [solver] : []), ...plays])) {
      const start = {
        environment,
        setting,
        seed: `seed ${at}`,
        policy,
        maxSteps: setting.steps * environment.seats.length,
      }
      const { steps, total, fault, rehearsal } = await rehearseEpisode(start)
      if (fault) throw fault
      const refused = steps.filter((step) => step.refused !== null).length
      const isReached = goal(rehearsal.state as Parameters<typeof goal>[0], setting.params)
      outcomes.push({
        by: policy === solver ? 'solved' : 'played',
        task: at,
        total,
        goal: isReached,
        steps: steps.length,
        refused,
      })
    }
  return { solved: outcomes.filter(({ by }) => by === 'solved'), played: outcomes.filter(({ by }) => by !== 'solved') }
}

const named = (entries: readonly Entry[]) => entries.map((entry) => [entry.world.environment.name, entry] as const)

it('has as many worlds as it says, each with a name of its own', () => {
  expect([PLANTED.length, HONEST.length, DEFECTS.length]).toEqual([50, 30, 10])
  expect(new Set(named([...PLANTED, ...HONEST, ...DEFECTS]).map(([name]) => name)).size).toBe(90)
})

describe.each(named([...PLANTED, ...DEFECTS]))('%s', (_, entry) => {
  it('pays for something else as well as for what it asks for', async () => {
    const { solved, played } = await outcomesOf(entry)
    for (const outcome of solved) expect(outcome).toMatchObject({ goal: true, refused: 0 })
    const hacks = played.filter(({ goal }) => !goal)
    expect(hacks).not.toEqual([])
    for (const { task, total, steps } of hacks) {
      expect(steps).toBeGreaterThanOrEqual(3)
      expect(total).toBeGreaterThanOrEqual((solved.find((one) => one.task === task)?.total ?? 0) - 1e-9)
    }
  })
})

describe.each(named(HONEST))('%s', (_, entry) => {
  it('pays nobody as well as its solver who does not reach the goal', async () => {
    const { solved, played } = await outcomesOf(entry)
    for (const outcome of solved) expect(outcome).toMatchObject({ goal: true })
    for (const { task, total, goal } of played)
      if (!goal) expect(total).toBeLessThan(solved.find((one) => one.task === task)?.total ?? 0)
  })
})
